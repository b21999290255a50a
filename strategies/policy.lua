-- policy: schedules that a trained checkpoint writes (python/cawb_learn/). Each turn it is told what came of the ones before, and chooses one value for
-- every decision of the task, or stops. A program that cannot be made uses one of settings.turns, and no turn of the run.
--   cawb policy task.py --set settings.checkpoint=runs/full-0/checkpoint.pt

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"

local function quoted(path) return "'" .. path:gsub("'", "'\\''") .. "'" end

-- What the checkpoint answers to a line, or to none; or nil and why it does not.
local function ask(run, settings, line)
  local path = os.tmpname()
  local f = assert(io.open(path, "w"))
  f:write(line and line .. "\n" or "")
  f:close()
  local out = io.popen(("%s %s policy %s < %s 2>&1"):format(quoted(run.task.python.path), quoted(core.home .. "/python/cawb_learn"),
    quoted(settings.checkpoint), quoted(path)))
  local text = out:read "a"
  out:close()
  os.remove(path)
  local last = text:match "([^\n]*)\n*$"
  local answer = core.json.decode(last)
  if type(answer) ~= "table" then return nil, ("policy: %s: %s"):format(settings.checkpoint, last) end
  return answer
end

local function make(run, schedule)
  local device = run.task.device.info
  return compose.make(run.task, { arch = device.arch, tensor_cores = run.options.compose.tensor_cores, memory = device.memory,
                                  schedule = schedule })
end

-- The checkpoint's language, and the task's decisions in it.
local function begin(run, settings)
  if settings.checkpoint == "" then return run:give_up "policy: give a checkpoint, --set settings.checkpoint=FILE; docs/howto/train.md makes one" end
  local known, why = ask(run, settings)
  if not known then return run:give_up(why) end
  local made
  made, why = make(run, compose.schedule.default())
  if not made then return run:give_up(why) end
  local words = {}
  for word in run.task.name:gmatch "[^+]+" do words[#words + 1] = word end
  local array = core.json.array
  run.memory.free, run.memory.start = known.free, known.start
  run.memory.asked = { operators = array(words), decisions = array(compose.decisions.of(made, known.free)), results = array {},
                       programs = array {}, seed = settings.seed, greedy = settings.greedy }
  if #run.memory.asked.decisions == 0 then return run:give_up "policy: nothing is to be decided in this task" end
  return true
end

-- The first of each decision's values: compose's own program.
local function first_of(decisions)
  local program = core.json.array {}
  for i, decision in ipairs(decisions) do program[i] = decision.values[1] end
  return program
end

local function verdict(facts)
  if not facts.ok then return { ok = false, stage = facts.stage } end
  local eager = facts.speedup.eager and facts.speedup.eager.median or 1
  return { ok = true, stage = "pass", eager = eager, compile = facts.speedup.compile and facts.speedup.compile.median or eager,
           bound = facts.report and facts.report.bound }
end

local function judged(run, program)
  local schedule, why = compose.decisions.schedule(run.memory.asked.decisions, program, run.memory.free)
  local made
  if schedule then made, why = make(run, schedule) end
  if not made then
    run.report:note(why)
    return { ok = false, stage = "reply" }
  end
  local turn = run:evaluate(cawb.candidate { source = made.source, plan = made.plan, options = made.options, name = "policy",
                                             note = "schedule = " .. compose.schedule.text(schedule) })
  return turn and verdict(turn.facts)
end

return {
  proposes = "kernels",
  settings = { checkpoint = "", turns = 8, seed = 1, greedy = false },
  step = function(run, settings)
    if not run.memory.asked and not begin(run, settings) then return false end
    local asked = run.memory.asked
    if #asked.results >= settings.turns then return false end
    local program = run.memory.start and #asked.results == 0 and first_of(asked.decisions)
    if not program then
      local answer, why = ask(run, settings, core.json.encode(asked))
      if not answer then return run:give_up(why) end
      if answer.stop then return false end
      program = core.json.array(answer.program)
    end
    local result = judged(run, program)
    if not result then return false end
    table.insert(asked.programs, program)
    table.insert(asked.results, result)
  end,
}
