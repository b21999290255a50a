-- cawb judge TASK.py CANDIDATE: is this kernel right, is it faster than PyTorch, what holds it back?

local command_line = require "cawb.door.command_line"
local core = require "cawb.core"
local families = require "cawb.run.families"
local arguments = require "cawb.door.arguments"
local job = require "cawb.door.job"
local live = require "cawb.door.live"
local profile = require "cawb.judge.profile.profile"
local report = require "cawb.door.report"
local answer = require "cawb.door.answer"

local M = { summary = "is a kernel right, faster than PyTorch, and what holds it back: cawb judge TASK KERNEL" }

M.usage = [[
usage: cawb judge TASK.py CANDIDATE [flags]

  CANDIDATE         NAME.cu with its plan NAME.lua beside it; a folder with kernel.cu and plan.lua; a Python file with
                    the class ModelNew; or one that cawb comes with, as kernels/softmax/v3_shuffle
  --json            one JSON object in place of the page
  --device, --set, --config, --baseline, --scale, --out, --seed    as of a run

It is compiled, checked on secret inputs by the default rules, timed beside eager PyTorch and torch.compile, measured again
in a fresh process, and profiled. The run is recorded.

exit codes: 0 right and faster than the fastest baseline that is no less accurate; 1 right; 2 wrong; 3 it could not be
judged (the message says why); 130 interrupted
]]

local function fail(message)
  io.stderr:write("cawb judge: ", message, "\n")
  return answer.codes.undecided
end

-- Progress on a terminal, and nothing else: the page is printed when all is known.
local function quiet_report(parsed)
  local r = report.new(io.stderr, 2, parsed.quiet)
  function r:line() self.live:clear() end
  return r
end

-- What the candidate does, by line where that can be had. It is no part of the verdict.
local function look(t, run, all)
  local turn = run.turns[1]
  if not (turn and turn.ok) or turn.candidate.python then return nil end
  local p = profile.profile(t, turn.candidate:with(turn.tunables), all, { set = "quick", lines = true })
  return p and p.ok and p or nil
end

-- One turn, and what it says. `say` is told the word of the verdict.
local function judged(say)
  return function(parsed, s, all, dev, t)
    if parsed.json then job.print_elsewhere() end
    local run, code = job.carry_out(parsed, s, all, dev, t, quiet_report(parsed))
    if not run then return code end
    local p = look(t, run, all)
    live.clear()
    if parsed.json then io.stdout:write(core.json.encode(answer.data(run, p)), "\n")
    else for _, line in ipairs(answer.page(run, p)) do print(line) end end
    if run.ended ~= "interrupted" then say(answer.word(run)) end
    return run.ended == "interrupted" and job.codes.interrupted or 0
  end
end

-- A strategy that proposes this and ends.
local function once(candidate)
  return { name = "judge", proposes = candidate.python and "python" or "kernels",
    step = function(run)
      run:evaluate(families.fitted(candidate, run.task))
      return false
    end }
end

local function words_of(argv)
  local parsed, message = command_line.parse(argv)
  if not parsed then return nil, message end
  if parsed.resume then return nil, "--resume goes on with a run of a strategy; judge has one turn" end
  if #parsed.words ~= 2 then return nil, "a task and a candidate are needed: cawb judge TASK.py CANDIDATE [flags]" end
  return parsed
end

function M.main(argv)
  local parsed, message = words_of(argv)
  if not parsed then return fail(message) end
  local task, path = arguments.order(table.unpack(parsed.words))
  local candidate
  candidate, message = arguments.candidate(path)
  if not candidate then return fail(message) end
  parsed.words = { "judge", task }
  local word
  local code = job.main(parsed, once(candidate), judged(function(w) word = w end))
  if code == job.codes.interrupted then return code end
  return answer.codes[word or "undecided"]
end

return M
