-- What a script with a function `session(user)` finds: `http`, and the methods of users and responses.
-- The chunk's arguments: the facts of the run, and Torr's own functions.
local facts, native = ...

local concat, error, pairs, setmetatable, tostring, type = table.concat, error, pairs, setmetatable, tostring, type
local yield = coroutine.yield

local function fail(message)
    error(message, 3)
end

local response = {}
response.__index = response

-- The value of the first field with this name, in any case; nil if there is none.
function response:header(name)
    return native.field(self.fields, tostring(name))
end

-- The content as JSON, or what a JSONPath finds in it; nil if it finds nothing.
function response:json(path)
    local value, problem = native.json(self.body, path)
    if problem then
        fail(problem)
    end
    return value
end

local function escaped(text)
    return (tostring(text):gsub("[^%w%-._~]", function(byte)
        return ("%%%02X"):format(byte:byte())
    end))
end

local function pairs_of(values)
    local texts = {}
    for name, value in pairs(values) do
        texts[#texts + 1] = escaped(name) .. "=" .. escaped(value)
    end
    table.sort(texts)
    return concat(texts, "&")
end

local known = { headers = true, body = true, json = true, form = true, query = true, name = true }

-- The fields of the command line that are the target's alone: another server has another host, and credentials of its own.
local own_fields = { host = true, authorization = true, cookie = true, ["proxy-authorization"] = true }

-- The parts of the header section, kept so that composing needs no new table.
local parts = {}

local function send(method, path, options)
    local headers, body, kind, name = nil, nil, nil, nil
    if type(path) ~= "string" then
        fail("http." .. method:lower() .. " takes a path such as '/items', not a " .. type(path))
    end
    if options ~= nil then
        if type(options) ~= "table" then
            fail("the options of a request are a table such as {headers = {...}, body = '...'}, not a " .. type(options))
        end
        for option in pairs(options) do
            if not known[option] then
                fail("a request has no option '" .. tostring(option) .. "': there are headers, body, json, form, query and name")
            end
        end
        headers, body, name = options.headers, options.body, options.name
        if options.json ~= nil then
            local problem
            body, problem = native.to_json(options.json)
            if problem then
                fail(problem)
            end
            kind = "application/json"
        elseif options.form then
            body, kind = pairs_of(options.form), "application/x-www-form-urlencoded"
        end
        if options.query then
            path = path .. (path:find("?", 1, true) and "&" or "?") .. pairs_of(options.query)
        end
    end
    local scheme, authority, rest = path:match("^(%a[%w+.-]*)://([^/?#]+)([^#]*)")
    local origin
    if scheme then
        scheme = scheme:lower()
        if scheme ~= "http" and scheme ~= "https" then
            fail("the request goes to " .. scheme .. "://" .. authority .. ": only http:// and https:// can be loaded")
        end
        if authority:find("@", 1, true) then
            fail("the URL of a request has a user and password: give them in a field Authorization")
        end
        if scheme .. "://" .. authority ~= facts.origin then
            origin = scheme .. "://" .. authority
        end
        path = rest
    end
    if path:sub(1, 1) ~= "/" then
        path = "/" .. path
    end
    local lower = {}
    if headers then
        for field in pairs(headers) do
            lower[tostring(field):lower()] = true
        end
    end
    local count = 0
    local function add(field, value)
        parts[count + 1], parts[count + 2], parts[count + 3], parts[count + 4] = field, ": ", tostring(value), "\r\n"
        count = count + 4
    end
    if not lower.host and (origin or not facts.has_host) then
        add("Host", origin and authority or facts.authority)
    end
    for field, value in pairs(facts.headers) do
        if not lower[field:lower()] and not (origin and own_fields[field:lower()]) then
            add(field, value)
        end
    end
    if headers then
        for field, value in pairs(headers) do
            add(field, value)
        end
    end
    if kind and not lower["content-type"] then
        add("Content-Type", kind)
    end
    if body ~= nil or method == "POST" or method == "PUT" or method == "PATCH" then
        body = body == nil and "" or tostring(body)
        if not lower["content-length"] then
            add("Content-Length", #body)
        end
    end
    -- Without a name it is method and path, without what varies: the query, and parts of the path that are numbers.
    name = name or (method .. " " .. path:match("^[^?]*"):gsub("/%d+%f[/%z]", "/{n}"))
    local status, fields, content = yield("send", name, method, path, concat(parts, "", 1, count), body or "", origin)
    return setmetatable({ status = status, fields = fields, body = content }, response)
end

http = {}
for _, method in ipairs { "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS" } do
    http[method:lower()] = function(path, options)
        return send(method, path, options)
    end
end

function http.request(method, path, options)
    return send(tostring(method):upper(), path, options)
end

local user = {}
user.__index = user

-- Waits so many seconds; with two numbers, a time between them that is drawn evenly.
function user.think(least, most)
    least = tonumber(least) or fail("user.think takes seconds: think(2), or think(1, 3) for a time between them")
    most = tonumber(most) or least
    if least < 0 or most < least then
        fail("user.think takes the least and the most, in seconds")
    end
    yield("pause", least + (most - least) * math.random())
end

-- Records whether a condition holds, for the latest response; the session goes on. Returns the condition.
function user.check(name, condition)
    native.check(tostring(name), not not condition)
    return condition
end

-- Ends the session as failed.
function user.fail(why)
    yield("fail", tostring(why == nil and "the script gave no reason" or why))
end

local calls = {}

-- Makes the coroutine of a session.
function calls.session(number)
    local vars = {}
    for name, value in pairs(facts.variables) do
        vars[name] = value
    end
    return coroutine.create(function()
        session(setmetatable({ number = number, vars = vars }, user))
        return "finished"
    end)
end

return calls
