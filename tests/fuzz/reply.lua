-- reply: what must hold of any bytes that an endpoint sends. The first byte chooses
-- the protocol, the content type and the size of the packets. The world is a transfer
-- that has everything already.

local core = require "cawb.core"

package.loaded["cawb.base.loop"] = {
  wait = function(ready) while not ready() do end return true end,
  sleep = function() return true end,
}
local loop = require "cawb.base.loop"
local exchange = require "cawb.agent.ask.exchange"
local outcome = require "cawb.agent.ask.outcome"
local plain = require "cawb.agent.ask.plain"
local protocols = { require "cawb.agent.ask.openai", require "cawb.agent.ask.anthropic" }

local tools = { { name = "write_file", description = "", parameters = { { "path", "string", "" }, { "text", "string", "" },
  { "n", "integer", "", optional = true } } }, { name = "list", description = "" } }
local model = { name = "m", connect = 1, limit = 8192, ca = "", whole = 1e9, first = 1e9, idle = 1e9, max_tokens = 10,
  stream = true, cache = true, sampling = {} }
local kinds = { "text/event-stream", "application/json" }
local steps = { 1, 2, 3, 5, 17, 64, 300, 1000 }
local statuses = { 200, 200, 200, 200, 200, 400, 429, 500 }

-- A transfer of these bytes, `step` at a time.
local function transfer(bytes, step, kind, status)
  local at = 1
  return {
    status = function() return status end,
    header = function(_, name) return name == "content-type" and kind or nil end,
    close = function() end,
    ending = function() if at > #bytes then return "ended", "" end end,
    read = function()
      local part = bytes:sub(at, at + step - 1)
      at = at + #part
      return part
    end,
  }
end

local function perform(protocol, bytes, step, kind, status)
  loop.http = function() return { start = function() return transfer(bytes, step, kind, status) end } end
  return exchange.perform(model, protocol, {}, nil)
end

local function check_calls(calls)
  for _, c in ipairs(calls) do
    assert(type(c.id) == "string" and type(c.name) == "string", "a call without id or name")
    assert(type(c.arguments) == "table" or type(c.bad) == "string", "a call with neither arguments nor a reason")
  end
end

local function check_reply(protocol, r)
  assert(type(r.text) == "string" and utf8.len(r.text) and type(r.reasoning) == "string", "no text")
  check_calls(r.calls)
  local calls, words = plain.parse(r.text, tools)
  check_calls(calls)
  assert(type(words) == "string")
  local message = { role = "assistant", text = r.text, calls = r.calls, blocks = r.blocks }
  core.json.encode(protocol.body(model, { { role = "user", text = "hi" }, message,
    { role = "tool", id = "1", name = "list", text = "done" } }, tools))
end

return function(data)
  local choice = data:byte() or 0
  local protocol, kind = protocols[choice % 2 + 1], kinds[choice // 2 % 2 + 1]
  local status, bytes = statuses[choice // 4 % 8 + 1], data:sub(2)
  local whole, message, name = perform(protocol, bytes, #bytes + 1, kind, status)
  if whole then check_reply(protocol, whole)
  else assert(type(message) == "string" and outcome.list[name], "an outcome without a name: " .. tostring(name)) end
  local cut, why, other = perform(protocol, bytes, steps[choice // 32 + 1], kind, status)
  assert((cut and cut.text) == (whole and whole.text), "packets change the reply")
  assert(other == name, ("packets change the outcome: %s, %s (%s, %s)"):format(name, other, message, why))
end
