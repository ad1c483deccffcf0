-- Modules beside the script, and those that scripts of wrk expect of the machine and that are compiled code elsewhere: `socket`, `cjson` and a part of `debug`.
-- The chunk's argument: Torr's own functions.
local native = ...

local error, setmetatable, tostring = error, setmetatable, tostring

-- Files beside the script come from where the script came from; a function is the module, a text says what was tried.
table.insert(package.loaders, 2, native.module)

-- A table that names itself when a script asks for what is not in it.
local function part_of(name, has, members)
    return setmetatable(members, {
        __index = function(_, key)
            error(name .. "." .. tostring(key) .. " is not supported: '" .. name .. "' has " .. has, 2)
        end,
    })
end

package.preload["socket"] = function()
    -- LuaSocket's module is a global as well.
    socket = part_of("socket", "gettime and sleep", { gettime = native.time, sleep = native.sleep })
    return socket
end

local function cjson(decode, encode)
    local module = { decode = decode, encode = encode, null = native.null }
    function module.new()
        return module
    end
    return part_of("cjson", "decode, encode, new and null", module)
end

package.preload["cjson"] = function()
    return cjson(function(text)
        local value, problem = native.decode(text)
        if problem then
            error(problem, 2)
        end
        return value
    end, function(value)
        local text, problem = native.to_json(value)
        return text or error(problem, 2)
    end)
end

package.preload["cjson.safe"] = function()
    return cjson(native.decode, native.to_json)
end

debug = { getinfo = native.getinfo, traceback = native.traceback }
package.loaded["debug"] = debug
