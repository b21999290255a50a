-- mcp: the Model Context Protocol on standard input and output, so that an agent which a user
-- has already can use a run's tools. JSON-RPC 2.0, one message a line. Two generations: with a
-- handshake (`initialize`), and since 2026-07-28 without one, each request naming its version.

local core = require "cawb.core"
local schema = require "cawb.agent.ask.schema"
local suggest = require "cawb.base.suggest"

local M = {}

M.versions = { "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25" }   -- by handshake, oldest first
M.modern = "2026-07-28"

M.most = 16 << 20                            -- bytes of one message

local codes = { parse = -32700, request = -32600, method = -32601, params = -32602, internal = -32603,
                version = -32022 }

local in_meta = "io.modelcontextprotocol/"
local null = core.json.null

-- ---- lines

--- A function that returns the next line of `file`; false for one of more than `most` bytes, which
--- is skipped; nil at the end. A piece without its newline is no message: whoever sent it is gone.
function M.lines(file, most)
  return function()
    local line, size = {}, 0
    while true do
      local c, message = file:read(1)
      if c == "\n" then return size <= most and table.concat(line) end
      if c then
        size = size + 1
        if size <= most then line[size] = c end
      elseif not (message and message:find "[Ii]nterrupted") or core.clock.asked() then
        return nil
      end
    end
  end
end

-- ---- answers

-- Texts come from compilers and candidates: any bytes. JSON wants UTF-8 without NULs.
local function clean(text)
  if not text:find("\0", 1, true) and utf8.len(text) then return text end
  return (text:gsub("[\0\128-\255]", "?"))
end

local Server = {}
Server.__index = Server

function Server:send(message)
  message.jsonrpc = "2.0"
  local ok, text = pcall(core.json.encode, message)
  if not ok then                             -- an id that JSON cannot give back
    text = core.json.encode { jsonrpc = "2.0", id = null, error = { code = codes.request, message = "the id is unusable" } }
  end
  if self.batch and not message.method then table.insert(self.batch, text)
  elseif not self.write(text .. "\n") then self.gone = true end
end

local function failure(kind, message, data)
  return nil, { code = codes[kind], message = clean(message), data = data }
end

local function described(tool)
  local parameters = tool.parameters or {}
  return { name = tool.name, description = clean(tool.description or ""),
           inputSchema = parameters.type == "object" and parameters or schema.parameters(tool) }
end

local function server_info() return { name = "cawb", version = core.version } end

-- What is added to results of the second generation.
local function stamped(modern, result, cacheable)
  if not modern then return result end
  result.resultType = "complete"
  if cacheable then result.ttlMs, result.cacheScope = 0, "private" end
  result._meta = { [in_meta .. "serverInfo"] = server_info() }
  return result
end

-- ---- methods: (server, params, modern) -> result, or nil and an error

local methods = {}

function methods.initialize(server, params)
  if type(params.protocolVersion) ~= "string" then return failure("params", "initialize: protocolVersion must be a string") end
  local version = M.versions[#M.versions]
  for _, one in ipairs(M.versions) do
    if one == params.protocolVersion then version = one end
  end
  server.version = version
  local client = type(params.clientInfo) == "table" and params.clientInfo.name
  server.log(("%s connected, protocol %s"):format(type(client) == "string" and client or "a client", version))
  return { protocolVersion = version, capabilities = { tools = { listChanged = false } },
           serverInfo = server_info(), instructions = server.instructions }
end

methods["server/discover"] = function(server)
  return { supportedVersions = core.json.array { M.modern }, capabilities = { tools = { listChanged = false } },
           instructions = server.instructions }, true
end

function methods.ping() return {} end

methods["tools/list"] = function(server, params)
  if params.cursor ~= nil and params.cursor ~= null then
    return failure("params", "tools/list: there is one page, and no cursor was given")
  end
  local list = core.json.array {}
  for i, tool in ipairs(server.tools) do list[i] = described(tool) end
  return { tools = list }, true
end

local function tool_of(server, name)
  local names = {}
  for i, tool in ipairs(server.tools) do
    if tool.name == name then return tool end
    names[i] = tool.name
  end
  return nil, ("there is no tool '%s'%s"):format(tostring(name), suggest.hint(tostring(name), names))
end

-- What tells the client that a long call is alive, where it asked to be told.
local function progress_of(server, params)
  local token = type(params._meta) == "table" and params._meta.progressToken
  local count = 0
  if type(token) ~= "string" and type(token) ~= "number" then return function() end end
  return function(message)
    count = count + 1
    server:send { method = "notifications/progress",
                  params = { progressToken = token, progress = count, message = clean(message) } }
  end
end

methods["tools/call"] = function(server, params)
  local tool, message = tool_of(server, params.name)
  if not tool then return failure("params", message) end
  local arguments = params.arguments
  if arguments == nil or arguments == null then arguments = {} end
  if type(arguments) ~= "table" or #arguments > 0 then
    return failure("params", "tools/call: arguments must be an object")
  end
  local ok, text, failed = xpcall(server.call, debug.traceback, tool, arguments, progress_of(server, params))
  if not ok then                             -- a mistake of ours: the run goes on
    server.log("tool " .. tool.name .. ": " .. tostring(text))
    return failure("internal", ("the tool %s failed: %s"):format(tool.name, tostring(text):match "^[^\n]*"))
  end
  return { content = core.json.array { { type = "text", text = clean(text) } }, isError = failed and true or false }
end

-- ---- messages

-- Whether a request may be answered: its version, or nil and an error.
local function generation(server, method, params)
  local meta = type(params._meta) == "table" and params._meta or {}
  local version = meta[in_meta .. "protocolVersion"]
  if version == M.modern then return "modern" end
  if version ~= nil then
    return failure("version", "unsupported protocol version",
      { supported = core.json.array { M.modern }, requested = clean(tostring(version)) })
  end
  if server.version or method == "initialize" or method == "ping" then return "handshake" end
  if not methods[method] or method == "server/discover" then return "handshake" end
  return failure("request", "initialize first")
end

local function answer(server, message)
  local method, params = message.method, message.params
  if params == nil or params == null then params = {} end
  if type(params) ~= "table" then return failure("params", "params must be an object") end
  local which, wrong = generation(server, method, params)
  if not which then return nil, wrong end
  local f = methods[method]
  if not f or method == "server/discover" and which ~= "modern" then
    return failure("method", ("there is no method '%s'"):format(clean(method:sub(1, 100))))
  end
  local result, extra = f(server, params)
  if not result then return nil, extra end
  return stamped(which == "modern", result, extra == true)
end

local function reply(server, id, result, wrong)
  if result then server:send { id = id, result = result } else server:send { id = id, error = wrong } end
end

local function is_id(id) return type(id) == "string" or type(id) == "number" end

-- One message: a request is answered, a notification and a response are not.
local function handle(server, message)
  if type(message) ~= "table" or message.jsonrpc ~= "2.0" then
    return reply(server, null, failure("request", "a message is an object with jsonrpc \"2.0\""))
  end
  if message.method == nil and (message.result ~= nil or message.error ~= nil) then return end
  local id = message.id
  if type(message.method) ~= "string" then
    return reply(server, is_id(id) and id or null, failure("request", "method must be a string"))
  end
  if id == nil then return end               -- notifications: initialized, cancelled, others; null is no id
  if not is_id(id) then return reply(server, null, failure("request", "id must be a string or a number")) end
  local result, wrong = answer(server, message)
  reply(server, id, result, wrong)
end

-- Strings with a NUL, which nothing here takes, have U+FFFD in its place: a message that is
-- refused as a whole has no id, and its sender would wait.
local function without_nul(line)
  if not line:find("\\u0000", 1, true) or line:find("\1", 1, true) then return line end
  return (line:gsub("\\\\", "\1"):gsub("\\u0000", "\\ufffd"):gsub("\1", "\\\\"))
end

-- A list of messages is a batch, which one version of the protocol had: its answers are one list.
local function take_batch(server, list)
  if #list == 0 then return reply(server, null, failure("request", "an empty batch")) end
  server.batch = {}
  for _, one in ipairs(list) do handle(server, one) end
  local answers = server.batch
  server.batch = nil
  if #answers > 0 and not server.write("[" .. table.concat(answers, ",") .. "]\n") then server.gone = true end
end

local function take(server, line)
  if not line:find "%S" then return end
  line = without_nul(line)
  local ok, message, why = pcall(core.json.decode, line)
  if not ok or message == nil then
    return reply(server, null, failure("parse", "not JSON: " .. tostring(ok and why or message)))
  end
  if type(message) ~= "table" or not line:match "^%s*%[" then return handle(server, message) end
  take_batch(server, message)
end

--- A server for one client, which is told messages by server:take(text). `spec` = { tools = { { name =,
--- description =, parameters =, ... }, ... }, call = function(tool, arguments, progress) that returns text and whether
--- that is a failure, write = function(text) that returns false when nobody reads, instructions = for the model,
--- log = function(text) }.
function M.new(spec)
  return setmetatable({ tools = spec.tools, call = spec.call, write = spec.write,
    instructions = spec.instructions, log = spec.log }, Server)
end

Server.take = take

--- Serve until the client is gone or Ctrl-C. `spec` as of M.new, and read = function as lines gives. Returns "gone"
--- or "interrupted".
function M.serve(spec)
  local server = M.new(spec)
  while not server.gone do
    local line = spec.read()
    if core.clock.asked() then return "interrupted" end
    if line == nil then return "gone" end
    if line then take(server, line)
    else reply(server, null, failure("request", ("a message may have %d bytes"):format(M.most))) end
  end
  return "gone"
end

return M
