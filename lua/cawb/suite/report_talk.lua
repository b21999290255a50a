-- report_talk: what a run's model and its tools said to each other, and what else the strategy had remembered, in order.

local core = require "cawb.core"
local report_turns = require "cawb.suite.report_turns"

local M = {}

local decode, array = core.json.decode, core.json.array

M.most_text = 24 << 10          -- bytes of one text that a page carries
M.most_bytes = 4 << 20          -- and of all runs

local function cut(text)
  return report_turns.cut(text, M.most_text, ("\n[of %d bytes; all are in the store]"):format(#text))
end

-- The arguments of a call as names and texts: what a model wrote to a file reads as that file.
local function arguments_of(raw)
  local value = type(raw) == "string" and decode(raw) or raw
  if type(value) ~= "table" then return raw and array { { "arguments", cut(tostring(raw)) } } or array {} end
  local list = array {}
  for name, v in pairs(value) do
    list[#list + 1] = { tostring(name), cut(type(v) == "string" and v or core.json.encode(v)) }
  end
  table.sort(list, function(a, b) return #a[2] < #b[2] or #a[2] == #b[2] and a[1] < b[1] end)
  return list
end

local function calls_of(d)
  local list
  for i, call in ipairs(d.calls or {}) do
    list = list or array {}
    list[i] = { name = call.name, arguments = arguments_of(call.arguments) }
  end
  return list
end

-- A message as lua/cawb/agent/chat.lua records it.
local function message_of(row, d)
  local usage = type(d.usage) == "table" and d.usage or {}
  return { role = d.role, chat = d.chat, text = d.text and d.text ~= "" and cut(d.text) or nil, calls = calls_of(d), name = d.name,
    failed = d.failed, turn = row.turn, reward = d.reward, reasoning = type(d.reasoning) == "string" and cut(d.reasoning) or nil,
    tokens = usage.input and { usage.input, usage.output } or nil, dollars = d.cost, seconds = d.seconds }
end

local function event_of(row, d)
  return { role = "record", name = row.kind, turn = row.turn, text = d.text or cut(row.data) }
end

--- Of a run: a list; `room.talk` is what all runs have left. What finds no room is counted: list, left out.
function M.read(store, run, room)
  local list, left_out = array {}, 0
  for _, row in ipairs(store:query("SELECT at, kind, turn, data FROM events WHERE run = ? ORDER BY number", run)) do
    if room.talk <= 0 then left_out = left_out + 1
    else
      local d = decode(row.data) or {}
      list[#list + 1] = row.kind == "message" and message_of(row, d) or event_of(row, d)
      room.talk = room.talk - math.min(#row.data, 2 * M.most_text)
    end
  end
  return list, left_out
end

return M
