-- cawb judge TASK.py CANDIDATE: is this kernel right, is it faster than PyTorch, what holds it back?

local answer = require "cawb.door.answer"
local command_line = require "cawb.door.command_line"
local core = require "cawb.core"
local families = require "cawb.run.families"
local arguments = require "cawb.door.arguments"
local job = require "cawb.door.job"
local judge = require "cawb.judge.judge"
local kinds = require "cawb.gpu.kinds"
local live = require "cawb.door.live"
local opened = require "cawb.door.opened"
local profile = require "cawb.judge.profile.profile"
local report = require "cawb.door.report"
local run = require "cawb.run.run"

local M = { summary = "is a kernel right, faster than PyTorch, and what holds it back: cawb judge TASK KERNEL" }

M.usage = [[
usage: cawb judge TASK.py CANDIDATE [flags]

  CANDIDATE         NAME.cu with its plan NAME.lua beside it; a folder with kernel.cu and plan.lua; a Python file with
                    the class ModelNew; or one that cawb comes with, as kernels/softmax/v3_shuffle
  --json            one JSON object in place of the page
  --fidelity        which instructions the simulated device executed exactly, by a model, approximately, or refused
  --device, --set, --config, --baseline, --scale, --out, --seed    as of a run

Without a GPU, kernels run on a simulated one, and Python candidates on the processor.

It is compiled, checked on secret inputs by the default rules, timed beside eager PyTorch and torch.compile, measured again
in a fresh process, and profiled. The run is recorded.

exit codes: 0 right and faster than the fastest baseline that is no less accurate; 1 right; 2 wrong; 3 it could not be
judged (the message says why); 130 interrupted
]]

local function fail(message)
  io.stderr:write("cawb judge: ", message, "\n")
  return answer.codes.undecided
end

local function words_of(argv)
  local words, faithful = {}, false
  for _, word in ipairs(argv) do
    if word == "--fidelity" then faithful = true else words[#words + 1] = word end
  end
  local parsed, message = command_line.parse(words)
  if not parsed then return nil, message end
  parsed.faithful = faithful
  if parsed.resume then return nil, "--resume goes on with a run of a strategy; judge has one turn" end
  if #parsed.words ~= 2 then return nil, "a task and a candidate are needed: cawb judge TASK.py CANDIDATE [flags]" end
  return parsed
end

-- In the record it stands beside strategies.
local function named(candidate)
  return { name = "judge", path = "judge", settings = {}, options = {}, proposes = candidate.python and "python" or "kernels" }
end

-- A simulated device executes kernels only. A Python candidate that is meant for it, or for a GPU that is not there, runs on the
-- processor: that shows whether it is right. Its time there is nobody's question, so little is spent on it.
local on_processor = "this Python candidate ran on the processor, where its time says nothing of a GPU's; kernels with a plan run on sim:h100"
local little = { "measure.against=eager", "measure.processes=2", "measure.budget=0.1", "confirm.enabled=false" }

local function moved(parsed, candidate)
  return candidate.python and (parsed.device:match "^sim:" or parsed.device == "auto" and not core.fs.kind "/dev/nvidiactl")
end

-- What it is judged with, or nil, message, name; and as what it is recorded.
local function open(parsed, candidate)
  local s, elsewhere = named(candidate), moved(parsed, candidate)
  if elsewhere then
    parsed.device = "cpu"
    parsed.sets = table.move(parsed.sets, 1, #parsed.sets, #little + 1, { table.unpack(little) })
  end
  local o, message, name = opened.open(parsed, s, true)
  if not o then return nil, message, name end
  if elsewhere then
    o.task.moved = true
    table.insert(o.task.notes, on_processor)
  end
  return o, nil, nil, s
end

-- Judge it, as the one turn of the run `r`. A first Ctrl-C lets that come to its end.
local function judged(r, candidate)
  core.clock.patient(true)
  if not r:done() then
    local turn = run.next_turn(r, families.fitted(candidate, r.task))
    run.take(r, turn, judge.judge(r.task, turn.candidate, r.options,
      { by = r.from + r.options.seconds, say = report.stages(r, turn) }))
    r.ended = r.ended or "finished"
  end
  core.clock.patient(false)
end

-- What the candidate does, by line where that can be had. It is no part of the verdict.
local function look(r)
  local turn = r.turns[1]
  if not (turn and turn.ok) or turn.candidate.python then return nil end
  local p = profile.profile(r.task, turn.facts.member, r.options, { set = "quick", lines = true })
  return p and p.ok and p or nil
end

local function show(r, json, faithful)
  local p = look(r)
  live.clear()
  if json then return io.stdout:write(core.json.encode(answer.data(r, p)), "\n") end
  for _, line in ipairs(answer.page(r, p, faithful)) do print(line) end
end

-- Why it could not be judged, for the exit code.
local function complain(message, name)
  return job.complain(message, name) == job.codes.interrupted and job.codes.interrupted or answer.codes.undecided
end

function M.main(argv)
  local parsed, message = words_of(argv)
  if not parsed then return fail(message) end
  local task, path = arguments.order(table.unpack(parsed.words))
  local candidate
  candidate, message = arguments.candidate(path)
  if not candidate then return fail(message) end
  parsed.words = { "judge", task }
  local o <close>, why, name, s = open(parsed, candidate)
  if not o then return complain(why, name) end
  if parsed.json then job.print_elsewhere() end
  local r
  r, why, name = job.begin(parsed, s, o, report.progress(io.stderr, 2, parsed.quiet))
  if not r then return complain(why, name) end
  judged(r, candidate)
  job.finish(r)
  show(r, parsed.json, parsed.faithful)
  return r.ended == "interrupted" and job.codes.interrupted or answer.codes[answer.word(r)]
end

return M
