-- The table `wrk` that a script finds, and the functions by which Torr calls what the script defines.
-- The chunk's arguments: the facts of the run, and Torr's own functions.
local facts, native = ...

local concat, error, pairs, rawget, setmetatable = table.concat, error, pairs, rawget, setmetatable
local tonumber, tostring, type = tonumber, tostring, type

if facts.output == "stderr" then
    -- Standard output belongs to a result.
    io.output(io.stderr)
    io.stdout = io.stderr
    function print(...)
        local texts = {}
        for position = 1, select("#", ...) do
            texts[position] = tostring((select(position, ...)))
        end
        io.stderr:write(concat(texts, "\t"), "\n")
    end
end

if facts.output == "watched" then
    -- A view covers the terminal: whichever way a script writes to the terminal, the text goes to the view.
    local close, output, select, kind_of = io.close, io.output, select, io.type
    local files = setmetatable({}, { __mode = "k" })
    local function stream(file, is_error)
        local own = {}
        for _, name in ipairs { "close", "flush", "lines", "read", "seek", "setvbuf" } do
            own[name] = function(_, ...)
                return file[name](file, ...)
            end
        end
        function own:write(...)
            local texts = { ... }
            for position = 1, select("#", ...) do
                local kind = type(texts[position])
                if kind ~= "string" and kind ~= "number" then
                    error(("bad argument #%d to 'write' (string expected, got %s)"):format(position, kind), 2)
                end
            end
            native.print(concat(texts), is_error)
            return self
        end
        local shown = setmetatable({}, {
            __index = own,
            __tostring = function()
                return tostring(file)
            end,
        })
        files[shown] = file
        return shown
    end
    io.stdout, io.stderr = stream(io.stdout, false), stream(io.stderr, true)
    local stdout, current = io.stdout, io.stdout
    function print(...)
        local texts = {}
        for position = 1, select("#", ...) do
            texts[position] = tostring((select(position, ...)))
        end
        stdout:write(concat(texts, "\t"), "\n")
    end
    function io.write(...)
        return current:write(...)
    end
    function io.output(file)
        if file ~= nil then
            current = files[file] and file or output(file)
        end
        return current
    end
    function io.close(file)
        return close(files[file or current] or file or current)
    end
    function io.type(value)
        return kind_of(files[value] or value)
    end
end

-- Objects of wrk have metatables that scripts can look into.
local hidden = getmetatable
local of_objects = {
    __index = function(object, name)
        return object[name]
    end,
    __newindex = function(object, name, value)
        object[name] = value
    end,
    __call = function(object, ...)
        return object(...)
    end,
    __len = function(object)
        return #object
    end,
    __tostring = tostring,
}

function getmetatable(object)
    if type(object) == "userdata" and hidden(object) == false then
        return of_objects
    end
    return hidden(object)
end

wrk = {
    scheme = facts.scheme,
    host = facts.host,
    port = facts.port,
    method = facts.method,
    path = facts.path,
    headers = facts.headers,
    body = facts.body,
}

-- An error at the place of the script that called.
local function fail(message)
    error(message, 3)
end

function wrk.lookup(host, service)
    local addresses, problem = native.lookup(tostring(host), tostring(service))
    return addresses or fail(problem)
end

function wrk.connect(address)
    if type(address) ~= "userdata" then
        fail("wrk.connect needs an address from wrk.lookup, found a " .. type(address))
    end
    return native.connect(address)
end

function wrk.resolve(host, service)
    local reachable = {}
    for _, address in ipairs(wrk.lookup(host, service)) do
        if wrk.connect(address) then
            reachable[#reachable + 1] = address
        end
    end
    wrk.addrs = reachable
end

-- The parts of the message that is composed, kept so that composing needs no new table.
local parts = {}

function wrk.format(method, path, headers, body)
    local defaults = wrk
    local own = defaults.headers
    headers = headers or own
    body = body or defaults.body
    parts[1] = method or defaults.method
    parts[2] = " "
    parts[3] = path or defaults.path
    parts[4] = " HTTP/1.1\r\n"
    local count, has_host = 4, false
    for name, value in pairs(headers) do
        if name == "Host" or name == "host" then
            has_host = true
        end
        if name ~= "Content-Length" then
            local kind = type(value)
            if kind ~= "string" and kind ~= "number" then
                value = tostring(value)
            end
            parts[count + 1] = name
            parts[count + 2] = ": "
            parts[count + 3] = value
            parts[count + 4] = "\r\n"
            count = count + 4
        end
    end
    if not has_host then
        local host = rawget(own, "Host")
        if host then
            parts[count + 1] = "Host: "
            parts[count + 2] = host
            parts[count + 3] = "\r\n"
            count = count + 3
        end
    end
    if body then
        if type(body) ~= "string" then
            body = tostring(body)
        end
        parts[count + 1] = "Content-Length: "
        parts[count + 2] = #body
        parts[count + 3] = "\r\n\r\n"
        parts[count + 4] = body
        count = count + 4
    else
        parts[count + 1] = "\r\n"
        count = count + 1
    end
    return concat(parts, "", 1, count)
end

function wrk.setup(thread)
    if type(setup) == "function" then
        setup(thread)
    end
end

function wrk.init(args)
    if not wrk.headers["Host"] then
        local host = wrk.host
        if host:find(":", 1, true) then
            host = "[" .. host .. "]"
        end
        wrk.headers["Host"] = wrk.port and (host .. ":" .. wrk.port) or host
    end
    if type(init) == "function" then
        init(args)
    end
    local message = wrk.format()
    wrk.request = function()
        return message
    end
end

local calls = {}

function calls.setup(thread)
    wrk.setup(thread)
end

function calls.init(args)
    wrk.init(args)
end

-- What the script defines. It may define a function anew at any time: names are looked up with each call.
function calls.defines(name)
    return type(_G[name]) == "function"
end

function calls.request()
    local text = (request or wrk.request)()
    if type(text) ~= "string" then
        if type(text) ~= "number" then
            error("it must return the bytes of a request, found " .. type(text), 0)
        end
        text = tostring(text)
    end
    return text
end

-- Milliseconds.
function calls.delay()
    return tonumber((delay())) or 0
end

-- Finds fields of HTTP/2, whose names are in lower case, by the names that they have in HTTP/1.1.
local any_case = {
    __index = function(headers, name)
        return type(name) == "string" and rawget(headers, name:lower()) or nil
    end,
}

function calls.response(status, headers, body, of_http2)
    if response then
        if of_http2 then
            setmetatable(headers, any_case)
        end
        response(status, headers, body)
    end
end

function calls.done(summary, latency, requests)
    done(summary, latency, requests)
end

-- What a script printed comes before what Torr prints next.
function calls.flush()
    io.stdout:flush()
    io.stderr:flush()
end

return calls
