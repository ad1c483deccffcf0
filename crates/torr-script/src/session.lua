-- What a script with a function `session(user)` finds: `http`, and the methods of users and responses.
-- The chunk's arguments: the facts of the run, and Torr's own functions.
local facts, native = ...

local concat, error, pairs, ipairs, setmetatable = table.concat, error, pairs, ipairs, setmetatable
local tonumber, tostring, type = tonumber, tostring, type
local create, resume, running, yield = coroutine.create, coroutine.resume, coroutine.running, coroutine.yield

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

local function percent(byte)
    return ("%%%02X"):format(byte:byte())
end

local function escaped(text)
    return (tostring(text):gsub("[^%w%-._~]", percent))
end

-- What a session waits for is yielded behind this value, which no script has.
local step = native.step

-- Gives a session's step up to the engine.
local function await(...)
    if not running() then
        error("requests and user.think must be called within session(user)", 3)
    end
    return yield(step, ...)
end

-- Passes on what a coroutine of the script's own yields: a request in it is the session's.
local function passed(thread, ok, ...)
    if ok and (...) == step then
        return passed(thread, resume(thread, yield(...)))
    end
    return ok, ...
end

function coroutine.resume(thread, ...)
    return passed(thread, resume(thread, ...))
end

local function returned(ok, ...)
    if not ok then
        error((...), 0)
    end
    return ...
end

function coroutine.wrap(body)
    local thread = create(body)
    return function(...)
        return returned(passed(thread, resume(thread, ...)))
    end
end

-- The text of a value that can stand in a request.
local function text_of(value, where, level)
    local kind = type(value)
    if kind ~= "string" and kind ~= "number" and kind ~= "boolean" then
        error(where .. " must be text or a number, found a " .. kind, level)
    end
    return tostring(value)
end

-- Names with values, sorted by name; a list of values is a name several times.
local function pairs_of(values, what)
    if type(values) ~= "table" then
        error("'" .. what .. "' of a request must be a table such as {name = 'value'}, found a " .. type(values), 3)
    end
    local names, texts = {}, {}
    for name in pairs(values) do
        if type(name) ~= "string" then
            error("'" .. what .. "' of a request needs names: write {name = 'value'}, or {name = {'one', 'other'}}", 3)
        end
        names[#names + 1] = name
    end
    table.sort(names)
    for _, name in ipairs(names) do
        local value = values[name]
        if type(value) ~= "table" then
            value = { value }
        end
        for _, one in ipairs(value) do
            texts[#texts + 1] = escaped(name) .. "=" .. escaped(text_of(one, what .. "." .. name, 4))
        end
    end
    return concat(texts, "&")
end

local known = { headers = true, body = true, json = true, form = true, query = true, name = true }

-- Beside these, what only streams have.
local known_of_streams = setmetatable({ method = true }, { __index = known })

-- What a request that opens a WebSocket may have.
local known_of_sockets = { headers = true, query = true, name = true, subprotocols = true }

-- The fields of the request that opens a WebSocket.
local fields_of_sockets = {
    "Connection", "Upgrade", "Sec-WebSocket-Version", "Sec-WebSocket-Key", "Sec-WebSocket-Protocol", "Sec-WebSocket-Extensions",
}

-- The fields of the command line that are the target's alone: another server has another host, and credentials of its own.
local own_fields = { host = true, authorization = true, cookie = true, ["proxy-authorization"] = true }

-- The parts of the header section, kept so that composing needs no new table.
local parts = {}

-- Sends a request, and waits as `how` says: for the response, or for the first event of a stream. `made` makes the object of it.
local function send(how, made, method, path, options)
    local headers, body, kind, name = nil, nil, nil, nil
    local is_stream, is_socket = how == "stream", how == "socket"
    if type(path) ~= "string" then
        local called = is_stream and "sse" or is_socket and "ws" or method:lower()
        fail("http." .. called .. " needs a path such as '/items', found a " .. type(path))
    end
    if options ~= nil then
        if type(options) ~= "table" then
            fail("the options of a request must be a table such as {headers = {...}, body = '...'}, found a " .. type(options))
        end
        for option in pairs(options) do
            if not (is_stream and known_of_streams or is_socket and known_of_sockets or known)[option] then
                local all = is_socket and "headers, query, name and subprotocols"
                    or "headers, body, json, form, query and name" .. (is_stream and ", and method" or "")
                fail("unknown option '" .. tostring(option) .. "' of a request: use " .. all)
            end
        end
        headers, body, name = options.headers, options.body, options.name
        local contents = (body ~= nil and 1 or 0) + (options.json ~= nil and 1 or 0) + (options.form ~= nil and 1 or 0)
        if contents > 1 then
            fail("a request must have one content: use one of body, json and form")
        end
        if headers ~= nil and type(headers) ~= "table" then
            fail("'headers' of a request must be a table such as {Accept = 'text/html'}, found a " .. type(headers))
        end
        if body ~= nil then
            body = text_of(body, "'body' of a request", 3)
        end
        if name ~= nil then
            name = text_of(name, "'name' of a request", 3)
        end
        if options.json ~= nil then
            local problem
            body, problem = native.to_json(options.json)
            if problem then
                fail(problem)
            end
            kind = "application/json"
        elseif options.form ~= nil then
            body, kind = pairs_of(options.form, "form"), "application/x-www-form-urlencoded"
        end
        if options.query ~= nil then
            path = path:match("^[^#]*")
            path = path .. (path:find("?", 1, true) and "&" or "?") .. pairs_of(options.query, "query")
        end
    end
    method = method or (body and "POST" or "GET")
    local scheme, authority, rest = path:match("^(%a[%w+.-]*)://([^/?#]+)([^#]*)")
    local origin
    if scheme then
        scheme = scheme:lower()
        if is_socket then
            scheme = scheme:gsub("^ws", "http")
        end
        if scheme ~= "http" and scheme ~= "https" then
            local schemes = is_socket and "ws:// or wss://" or "http:// or https://"
            fail("the request goes to " .. scheme .. "://" .. authority .. ": the URL must begin with " .. schemes)
        end
        if authority:find("@", 1, true) then
            fail("the URL of a request must not have a user and password: use the header Authorization")
        end
        if scheme .. "://" .. authority ~= facts.origin then
            origin = scheme .. "://" .. authority
        end
        path = rest
    end
    if path:sub(1, 1) ~= "/" then
        path = "/" .. path
    end
    -- No request line has these.
    path = path:match("^[^#]*"):gsub("[%z\1-\32\127-\255]", percent)
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
    local function add_own(field, value)
        if type(field) ~= "string" or not field:find("^[%w!#$%%&'*+.^_`|~-]+$") then
            error("invalid name of a header field: '" .. tostring(field) .. "'", 3)
        end
        value = text_of(value, "the field " .. field, 4)
        if value:find("[%z\1-\8\10-\31\127]") then
            error("the field " .. field .. " contains a line break or another forbidden character", 3)
        end
        add(field, value)
    end
    if not lower.host and (origin or not facts.has_host) then
        add("Host", origin and authority or facts.authority)
    end
    if is_stream and not lower.accept and not facts.has_accept then
        lower.accept = true
        add("Accept", "text/event-stream")
    end
    for field, value in pairs(facts.headers) do
        if not lower[field:lower()] and not (origin and own_fields[field:lower()]) then
            add(field, value)
        end
    end
    if headers then
        for field, value in pairs(headers) do
            for _, one in ipairs(type(value) == "table" and value or { value }) do
                add_own(field, one)
            end
        end
    end
    if is_socket then
        for _, field in ipairs(fields_of_sockets) do
            if lower[field:lower()] then
                fail("the field " .. field .. " of a WebSocket is Torr's own: leave it out")
            end
        end
        add("Connection", "Upgrade")
        add("Upgrade", "websocket")
        add("Sec-WebSocket-Version", "13")
        add("Sec-WebSocket-Key", native.websocket_key())
        local subprotocols = options and options.subprotocols
        if subprotocols ~= nil then
            if type(subprotocols) == "string" then
                subprotocols = { subprotocols }
            end
            if type(subprotocols) ~= "table" then
                fail("'subprotocols' must be a list such as {'chat', 'feed'}, found a " .. type(subprotocols))
            end
            for _, name in ipairs(subprotocols) do
                if type(name) ~= "string" or not name:find("^[%w!#$%%&'*+.^_`|~-]+$") then
                    fail("invalid name of a subprotocol: '" .. tostring(name) .. "'")
                end
            end
            add("Sec-WebSocket-Protocol", concat(subprotocols, ", "))
        end
    end
    if kind and not lower["content-type"] then
        add("Content-Type", kind)
    end
    if body ~= nil or method == "POST" or method == "PUT" or method == "PATCH" then
        body = body or ""
        if not lower["content-length"] then
            add("Content-Length", #body)
        end
    end
    -- Without a name it is method and path, without what varies: the query, and parts of the path that are numbers.
    name = name or (method .. " " .. path:match("^[^?]*"):gsub("/%d+%f[/%z]", "/{n}"))
    return made(await(how, name, method, path, concat(parts, "", 1, count), body or "", origin))
end

local function received(status, fields, content)
    return setmetatable({ status = status, fields = fields, body = content }, response)
end

http = {}
for _, method in ipairs { "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS" } do
    http[method:lower()] = function(path, options)
        return send("send", received, method, path, options)
    end
end

function http.request(method, path, options)
    if type(method) ~= "string" or not method:find("^[%w!#$%%&'*+.^_`|~-]+$") then
        error("http.request needs a method such as 'GET', found '" .. tostring(method) .. "'", 2)
    end
    return send("send", received, method:upper(), path, options)
end

-- A response that is an event stream: each call returns the next event, and nil behind the last one.
local stream = {}
stream.__index = function(_, name)
    return stream[name] or response[name]
end

function stream:__call()
    local event = self.first
    if event then
        self.first = nil
        return event
    end
    if self.ended then
        return nil
    end
    local data, kind, id = await("event", self.number)
    if data == false then
        error("the stream ended when the session sent a request or waited: do that after its loop", 2)
    end
    if data == nil then
        self.ended = true
        return nil
    end
    return { data = data, event = kind, id = id }
end

local function begun(status, fields, content, number, data, kind, id)
    local got = { status = status, fields = fields, body = content, number = number, ended = data == nil }
    if data then
        got.first = { data = data, event = kind, id = id }
    end
    return setmetatable(got, stream)
end

-- Sends a request, and returns its events for a loop: `for event in http.sse(path, options) do`.
function http.sse(path, options)
    local method = type(options) == "table" and options.method or nil
    if method ~= nil and (type(method) ~= "string" or not method:find("^[%w!#$%%&'*+.^_`|~-]+$")) then
        error("http.sse needs a method such as 'POST', found '" .. tostring(method) .. "'", 2)
    end
    return send("stream", begun, method and method:upper(), path, options)
end

-- A WebSocket: each call returns the payload of the next message and its kind, and nil once it is closed.
local socket = {}
socket.__index = function(_, name)
    return socket[name] or response[name]
end

function socket:receive()
    if self.closed then
        return nil
    end
    local data, kind = await("message", self.number)
    if data then
        return data, kind
    end
    self.closed = true
    return nil
end

socket.__call = socket.receive

-- Sends a message, and returns whether the WebSocket is open.
local function send_message(self, data, is_binary)
    data = text_of(data, "a message", 3)
    if #data > 16 * 1024 * 1024 then
        error("a message must be at most 16 MiB, found " .. #data .. " bytes", 2)
    end
    if not is_binary and not native.is_utf8(data) then
        error("a text message must be UTF-8: use send_binary", 2)
    end
    return not self.closed and await("say", self.number, data, is_binary) ~= false
end

function socket:send(data)
    return send_message(self, data, false)
end

function socket:send_binary(data)
    return send_message(self, data, true)
end

function socket:close()
    if not self.closed then
        self.closed = true
        await("close", self.number)
    end
end

local function opened(status, fields, content, number)
    return setmetatable({ status = status, fields = fields, body = content, number = number, closed = number == nil }, socket)
end

-- Opens a WebSocket: `local ws = http.ws(path, options)`.
function http.ws(path, options)
    if facts.http2 or facts.http3 then
        error("http.ws needs HTTP/1.1: leave out --http2, --http2-prior-knowledge and --http3", 2)
    end
    return send("socket", opened, "GET", path, options)
end

-- The end of a call of gRPC.
local call = {}
call.__index = call
call.header = response.header

local function byte_of(digits)
    return string.char(tonumber(digits, 16))
end

-- The services of `.proto` files.
local client = {}
client.__index = client

-- Calls a method with one message, a table, and returns how the call ended.
function client:invoke(method, message, options)
    if not facts.http2 then
        error("a call of gRPC needs HTTP/2: add --http2-prior-knowledge, or --http2 for https://", 2)
    end
    if type(method) ~= "string" then
        error("invoke needs a method such as '/shop.Shop/Get', found a " .. type(method), 2)
    end
    options = options or {}
    if type(options) ~= "table" then
        error("the options of a call must be a table such as {deadline = 1}, found a " .. type(options), 2)
    end
    for option in pairs(options) do
        if option ~= "metadata" and option ~= "deadline" and option ~= "name" then
            error("unknown option '" .. tostring(option) .. "' of a call: use metadata, deadline and name", 2)
        end
    end
    local path = method:match("^%a[%w+.-]*://[^/]+(.*)$") or method
    local json, problem = native.to_json(message == nil and {} or message)
    local content
    if json then
        content, problem = self.services:encode(path, json)
    end
    if problem then
        error(problem, 2)
    end
    if options.metadata ~= nil and type(options.metadata) ~= "table" then
        error("'metadata' of a call must be a table such as {token = 'x'}, found a " .. type(options.metadata), 2)
    end
    local headers = { ["Content-Type"] = "application/grpc", TE = "trailers" }
    for name, value in pairs(options.metadata or {}) do
        headers[name] = value
    end
    if options.deadline ~= nil then
        headers["grpc-timeout"] = native.deadline(tonumber(options.deadline) or 0)
            or error("'deadline' of a call must be seconds, more than 0 and a day at most", 2)
    end
    local services = self.services
    local function ended(status, fields, body)
        local field = native.field(fields, "grpc-status")
        local name, code
        if field then
            name, code = native.status_name(field)
        end
        local why = native.field(fields, "grpc-message")
        local this = { status = name or "HTTP " .. status, code = code, fields = fields }
        this.error = why and why:gsub("%%(%x%x)", byte_of) or nil
        if code == 0 then
            local text, wrong = services:decode(path, body, native.field(fields, "grpc-encoding"))
            if wrong then
                error("the response of " .. path .. " is not as its file says: " .. wrong, 0)
            end
            this.message = native.json(text)
        end
        return setmetatable(this, call)
    end
    return send("call", ended, "POST", method, { headers = headers, body = content, name = options.name or path })
end

grpc = {}

-- Loads the services of a `.proto` file beside the script, or of several.
function grpc.load(files)
    if type(files) == "string" then
        files = { files }
    end
    if type(files) ~= "table" or #files == 0 then
        error("grpc.load needs the name of a .proto file beside the script, or a list of names", 2)
    end
    local services, problem = native.services(files)
    if problem then
        error(problem, 2)
    end
    return setmetatable({ services = services }, client)
end

local user = {}
user.__index = user

-- Waits so many seconds; with two numbers, a time between them that is drawn evenly.
function user.think(least, most)
    least = tonumber(least) or fail("user.think needs seconds: think(2), or think(1, 3) for a time between them")
    most = tonumber(most) or least
    -- NaN is in no order.
    if not (least >= 0 and most >= least) then
        fail("user.think needs the least and the most seconds, in this order")
    end
    await("pause", least + (most - least) * math.random())
end

-- Records whether a condition holds, for the latest response; the session goes on. Returns the condition.
function user.check(name, condition)
    native.check(tostring(name), not not condition)
    return condition
end

-- Ends the session as failed.
function user.fail(why)
    await("fail", tostring(why == nil and "the script gave no reason" or why))
end

local calls = {}

-- Makes the coroutine of a session, which may have a record of a file.
function calls.session(number, record)
    local vars = {}
    for name, value in pairs(facts.variables) do
        vars[name] = value
    end
    for name, value in pairs(record or {}) do
        vars[name] = value
    end
    return create(function()
        session(setmetatable({ number = number, vars = vars }, user))
        return step, "finished"
    end)
end

return calls
