-- context: what of a conversation still fits the model. The policy, in this order and only as
-- far as it is needed: results of tools and files written, all but the latest, are cut to
-- their first line; then the oldest rounds are left out, and a summary takes their place:
-- every turn in a line, and the best candidate whole. The prompt, the task and the latest
-- `agent.keep` rounds stay.

local core = require "cawb.core"
local feedback = require "cawb.agent.feedback"

local M = {}

local short = 160                          -- bytes that are not worth cutting

local function size(m)
  local n = #m.text
  for _, c in ipairs(m.calls or {}) do n = n + #(c.raw or "") + #c.name end
  return n + #(m.written or "") // 2 + 16
end

local function total(messages)
  local n = 0
  for _, m in ipairs(messages) do n = n + size(m) end
  return n
end

local function first_line(text)
  if #text <= short then return text end
  return feedback.cut(text:match "^[^\n]*", short) .. ("\n[an older result: %d bytes are left out]"):format(#text)
end

-- A call with its long arguments left out.
local function shorter_call(call)
  if not call.arguments or #(call.raw or "") <= short then return call end
  local arguments = {}
  for key, value in pairs(call.arguments) do
    arguments[key] = type(value) == "string" and #value > short and ("[%d bytes are left out]"):format(#value) or value
  end
  return { id = call.id, name = call.name, arguments = arguments, raw = core.json.encode(arguments) }
end

local function shortened(m)
  if m.role == "tool" then
    return { role = "tool", id = m.id, name = m.name, failed = m.failed, text = first_line(m.text) }
  elseif m.role == "assistant" then
    local calls
    for i, c in ipairs(m.calls or {}) do
      calls = calls or {}
      calls[i] = shorter_call(c)
    end
    return { role = "assistant", text = #m.text > 4 * short and feedback.cut(m.text, 4 * short) or m.text, calls = calls,
             written = m.written and feedback.cut(m.written, 4 * short) }
  end
  return m
end

-- Where the rounds begin: at each reply. What is ahead of the first one is the prompt.
local function rounds_of(messages)
  local starts = {}
  for i, m in ipairs(messages) do
    if m.role == "assistant" then starts[#starts + 1] = i end
  end
  return starts
end

-- The lessons so far.
local function summary(run, dropped)
  local lines = { ("[%d earlier messages are left out. What they came to:]"):format(dropped) }
  for _, turn in ipairs(run.turns) do lines[#lines + 1] = "- " .. feedback.turn_line(turn) end
  if #run.turns == 0 then lines[#lines + 1] = "- nothing has been measured yet" end
  local best = run.best and run.best.candidate
  if best then
    lines[#lines + 1] = ("The best candidate, turn %d, kernel.cu:\n```cuda\n%s\n```\nplan.lua:\n```lua\n%s\n```")
      :format(run.best.number, best.source, best.plan)
  end
  return { role = "user", text = table.concat(lines, "\n") }
end

--- The messages that are sent, within `room` bytes as far as that can be: a list of its own.
function M.fit(messages, room, run)
  if total(messages) <= room then return messages end
  local starts, keep = rounds_of(messages), run.options.agent.keep
  local recent = starts[math.max(1, #starts - keep + 1)] or #messages + 1
  local list = {}
  for i, m in ipairs(messages) do
    list[i] = i >= (starts[1] or 0) and i < recent and shortened(m) or m
  end
  local head, from = (starts[1] or #messages + 1) - 1, 1
  local function kept()
    local out = table.move(list, 1, head, 1, {})
    if from > 1 then out[#out + 1] = summary(run, starts[from] - starts[1]) end
    return table.move(list, starts[from], #list, #out + 1, out)
  end
  local out = #starts > 0 and kept() or list
  while total(out) > room and from < #starts do
    from = from + 1
    out = kept()
  end
  return out
end

return M
