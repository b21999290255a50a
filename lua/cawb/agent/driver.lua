-- driver: a run whose moves are made elsewhere: a client calls its tools, one at a time. Budgets and rules are the
-- run's own, and every call is in its record.

local baselines = require "cawb.judge.time.baselines"
local core = require "cawb.core"
local feedback = require "cawb.agent.feedback"
local tools = require "cawb.agent.tools"

local M = {}

-- What needs neither the device nor the budget, and stays after the end.
local free = { list = true, read_file = true, search = true, skill = true }

--- The run is over, if it is: complete the record, once. `log` is told what went wrong.
function M.finish(r, log)
  if r.closed or not r:done() or r.ended == "interrupted" then return end
  r.closed = true
  if r.best then
    local ok, message = baselines.complete(r.task, r.options.measure)
    if not ok then log(message) end
  end
  local ok, message = r.ledger:finish(r)
  if not ok then log(message) end
  r.report:run_ends(r)
end

-- As lua/cawb/agent/chat.lua records what its model does: a call, and what came of it.
local function record(r, tool, arguments, text, failed, turn)
  r.memory.calls = (r.memory.calls or 0) + 1
  local id = ("call-%d-%d"):format(r.memory.began or 0, r.memory.calls)
  r:record("message", { chat = 1, role = "assistant", text = "",
    calls = { { id = id, name = tool.name, arguments = core.json.encode(arguments) } } })
  r:record("message", { chat = 1, role = "tool", id = id, name = tool.name, text = text, failed = failed or nil,
    turn = turn and turn.number, reward = turn and turn.reward }, turn and turn.number)
end

--- What a run that has ended says to whoever goes on.
function M.over(r)
  return ("The run has ended (%s); nothing further is evaluated. Best: %s"):format(r.reason or r:done(),
    r.best and feedback.turn_line(r.best) or "none")
end

--- Call a tool of a session `s` on the run `r`: its text and whether it failed. `progress(stage)` is told how an
--- evaluation gets on.
function M.call(r, s, tool, arguments, progress, log)
  if r:done() and not free[tool.name] then return M.over(r), true end
  function r.report.stage(_, _, _, stage) progress(stage) end
  local text, failed = tools.call(s, tool.name, arguments)
  if s.submitted then r.ended = r.ended or "finished" end
  record(r, tool, arguments, text, failed, s.turn)
  M.finish(r, log)
  return text, failed
end

return M
