-- http: from what the server hands over (core/door/bindings/serve.c) to handlers and back. JSON in and out; one place through
-- which every answer goes, so that none holds a path of this machine.

local core = require "cawb.core"

local M = {}

-- ---- answers

-- The folders of this machine's root: what begins with one of them is a path, and "/x" elsewhere is not.
local function roots()
  local set = {}
  for _, name in ipairs(core.fs.list "/" or {}) do set[name] = true end
  return set
end

local known

--- A text without paths of this machine: of each its last part is left.
function M.scrub(text)
  if not text:find("/", 1, true) then return text end
  known = known or roots()
  return (text:gsub("/([%w%._+@-]+)(/[^%s:'\"`(),;<>|\\%]}]*)", function(first, rest)
    if not known[first] then return nil end
    return ".../" .. (rest:match "([^/]+)/*$" or "")
  end))
end

local function encoded(value)
  local ok, text = pcall(core.json.encode, value)
  if ok then return text end
  return nil, text
end

--- Answer a request: `value` is a table, sent as JSON, or a text with its `type`. `opts.whole`: it holds no path of this machine,
--- and goes as it is.
function M.answer(request, status, value, opts)
  opts = opts or {}
  local text, why = value, nil
  if type(value) == "table" then text, why = encoded(value) end
  if not text then status, text = 500, core.json.encode { error = "the answer is no JSON: " .. tostring(why) } end
  request.handle:answer { status = status, body = (opts.whole and text or M.scrub(text)) .. (opts.bare and "" or "\n"), type = opts.type or "application/json",
                          headers = opts.headers, last = opts.last }
  request.status = status
end

--- What a handler returns where the request cannot be served: a status, and what to do.
function M.no(status, message, headers) return status, { error = message }, { headers = headers } end

-- ---- requests

-- Whether a number of a text may be infinite: none is of fewer digits than this, where none has an exponent.
local function may_be_infinite(text) return #text >= 308 or text:find "%d[eE]" ~= nil end

--- A text as JSON that can be written again, without infinite numbers; or nil and what is wrong with it.
function M.parse(text)
  local ok, value, message = pcall(core.json.decode, text)
  if not ok or value == nil then return nil, "no JSON: " .. tostring(ok and message or value) end
  if not may_be_infinite(text) then return value end
  local whole, why = pcall(core.json.encode, { value })
  if not whole then return nil, "no JSON that could be sent back: " .. tostring(why):gsub("^[^ ]*:%d+: ", "") end
  return value
end

--- The body as a JSON object; or nil and what is wrong with it.
function M.object(request)
  local value, message = M.parse(request.body)
  if value == nil then return nil, "the body is " .. message end
  if type(value) ~= "table" or request.body:match "^%s*%[" then return nil, "the body must be a JSON object" end
  return value
end

-- The route of a path, and what stands for "*" in it.
local function route_of(routes, method, path)
  local exact = routes[method .. " " .. path]
  if exact then return exact, nil, method .. " " .. path end
  local folder, rest = path:match "^(/[%w_%-/]+/)([^/]+)$"
  local name = folder and ("%s %s*"):format(method, folder)
  if name and routes[name] then return routes[name], rest, name end
end

local function other_method(routes, path)
  for _, method in ipairs { "GET", "POST", "DELETE" } do
    if route_of(routes, method, path) then return method end
  end
end

--- The answer of `routes` = { ["METHOD /path"] = function(request, rest) -> status, value, opts }; a mistake of
--- ours is told in `log`, and is a 500. Returns status, value, opts, and the route's name.
function M.dispatch(routes, request, log)
  local f, rest, name = route_of(routes, request.method, request.path)
  if not f then
    local other = other_method(routes, request.path)
    if other then return 405, { error = ("%s %s: use %s"):format(request.method, request.path, other) }, { headers = { "Allow: " .. other } } end
    local more = request.path:find "^/v1/" and "this server judges candidates and is no model's endpoint" or "GET / lists what there is"
    return 404, { error = ("there is no %s here; %s"):format(request.path, more) }
  end
  local got = table.pack(xpcall(f, debug.traceback, request, rest))
  if got[1] then return got[2], got[3], got[4], name end
  log(("%s: %s"):format(name, tostring(got[2])))
  return 500, { error = "this server made a mistake, and said more on its standard error" }, nil, name
end

return M
