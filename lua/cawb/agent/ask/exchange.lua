-- exchange: one request to an endpoint and what comes of it: a reply, or nil, message,
-- name and what a retry wants to know.

local core = require "cawb.core"
local events = require "cawb.agent.ask.events"
local loop = require "cawb.base.loop"
local outcome = require "cawb.agent.ask.outcome"

local M = {}

local settle = 1.0        -- seconds that a finished stream has to close by itself

local function kind_of(transfer)
  local type = (transfer:header "content-type" or ""):lower()
  if type:find("text/event-stream", 1, true) then return "events" end
  if type:find("json", 1, true) then return "json" end
  return nil, type
end

-- The reader said no: words and a name, or the endpoint's own error object.
local function reader_failed(wrong, name)
  if name then return nil, wrong, name end
  return nil, outcome.of_error(wrong)
end

local function feed(x, bytes)
  local list, message = x.events:feed(bytes)
  if not list then return nil, message, "too_large" end
  for _, e in ipairs(list) do
    if not utf8.len(e.data) then return nil, "an event that is no UTF-8", "malformed" end
    local ok, wrong, name = x.reader:event(e)
    if not ok then return reader_failed(wrong, name) end
  end
  if not x.first and x.reader:begun() then x.first = core.clock.now() end
  return true
end

-- Take what has come: events at once, anything else is collected.
local function take(x, bytes)
  if bytes == "" then return true end
  if not x.kind then
    x.status = x.transfer:status()
    x.kind = x.status == 200 and (kind_of(x.transfer) or "other") or "error"
  end
  x.idle = core.clock.now()
  if x.kind == "events" then return feed(x, bytes) end
  x.parts[#x.parts + 1] = bytes
  return true
end

local function whole_body(x)
  local body = table.concat(x.parts)
  if body:match "^%s*$" then return nil, "a reply with nothing in it", "empty" end
  local json, why = core.json.decode(body)
  if not utf8.len(body) then json, why = nil, "it is no UTF-8" end
  if type(json) ~= "table" then return nil, "the reply is no JSON object: " .. tostring(why), "malformed" end
  local ok, wrong, name = x.reader:whole(json)
  if not ok then return reader_failed(wrong, name) end
  return x.reader:finish()
end

local function after_end(x, ending, words)
  local status = x.transfer:status()
  if ending == "too_large" then
    return nil, ("the reply has more than %d bytes: raise model.limit, if that is right"):format(x.limit), ending
  elseif ending ~= "ended" and not x.reader.done then
    return nil, words ~= "" and words or outcome.list[ending][1], ending
  elseif status ~= 200 then
    return nil, outcome.of_status(status, table.concat(x.parts), x.transfer:header "location")
  elseif x.kind == "other" then
    return nil, ("the reply is '%s', not JSON and no event stream: is this the API's address?")
      :format(outcome.printable(x.transfer:header "content-type" or "of no type")), "content_type"
  elseif x.kind ~= "events" then
    return whole_body(x)
  end
  local reply = x.reader:finish()
  if reply then return reply end
  if not x.reader:begun() and not x.events:pending() then return nil, "a stream with nothing in it", "empty" end
  return nil, "the stream ended in the middle of the reply", "cut"
end

-- The next deadline, its name and its words.
local function next_deadline(x, model)
  if x.reader.done then return core.clock.now() + settle, "done" end
  local list = { { x.from + model.whole, "timeout", "the whole reply took more than %g s (model.whole)", model.whole } }
  if x.first or #x.parts > 0 then
    list[2] = { x.idle + model.idle, "idle_timeout", "nothing came for %g s (model.idle)", model.idle }
  else
    list[2] = { x.from + model.first, "first_timeout", "the reply did not begin within %g s (model.first)", model.first }
  end
  if x.until_time then
    list[3] = { x.until_time, "timeout", "the run's time ended before the reply came", 0 }
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return list[1][1], list[1][2], list[1][3]:format(list[1][4])
end

local function follow(x, model)
  while true do
    local ending, words, bytes
    local deadline, late, why = next_deadline(x, model)
    local ok, message, name = loop.wait(function()
      ending, words = x.transfer:ending()
      bytes = x.transfer:read()
      return ending or bytes ~= ""
    end, deadline)
    if not ok and name == "interrupted" then return nil, message, name end
    if not ok and late ~= "done" then return nil, why, late end
    local good, wrong, kind = take(x, bytes)
    if not good then return nil, wrong, kind end
    if ending or not ok then return after_end(x, ending or "ended", words or "") end
  end
end

--- Send `request` = { url, headers, body, auth } and read the reply with `protocol`.
--- Returns the reply, with first_token_s; or nil, message, name, { status =, retry_after = }.
function M.perform(model, protocol, request, until_time)
  local http, message, name = loop.http()
  if not http then return nil, message, name end
  local transfer
  transfer, message, name = http:start { url = request.url, headers = request.headers, body = request.body,
    auth = request.auth, connect = model.connect, limit = model.limit, ca = model.ca ~= "" and model.ca or nil }
  if not transfer then return nil, message, name end
  local now = core.clock.now()
  local x = { transfer = transfer, reader = protocol.reader(), events = events.new(model.limit),
              parts = {}, from = now, idle = now, until_time = until_time, limit = model.limit }
  local reply
  reply, message, name = follow(x, model)
  local about = { status = transfer:status(), retry_after = transfer:header "retry-after" }
  transfer:close()
  if not reply then return nil, message, name, about end
  reply.first_token_s = (x.first or core.clock.now()) - x.from
  return reply
end

return M
