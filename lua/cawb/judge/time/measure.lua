-- measure: how long does a candidate take, and how much faster is it than
-- PyTorch? On a simulated device both are modelled, and say so. On a real one they
-- take turns (duel.lua), so that clocks and heat treat them alike.

local battery = require "cawb.judge.verify.battery"
local baseline_model = require "cawb.torch.modelled"
local duel = require "cawb.judge.time.duel"
local execute = require "cawb.judge.worker.execute"
local verdict = require "cawb.judge.verify.tolerance"
local options = require "cawb.base.options"
local stats = require "cawb.base.stats"

local M = {}

-- Time it a few times; what every timed call wrote is judged like any other output.
-- Returns { ok = true, samples = {...} }, a failure as data, or nil, message, name. Inputs of a kind that turns
-- out to say nothing of the task are not taken again.
local sample
function sample(task, candidate, how, all)
  local case = how.case and battery.timed(task, all.verify) or nil
  local slots = math.min(how.samples, task.slots)
  local request = { op = "time", warmup = how.warmup, samples = slots, budget = how.budget,
                    slots = slots, outputs_stride = task.outputs_stride,
                    slowest = how.slowest or 0, launch_calls = how.launches or 0 }
  local ran, message, name =
    execute.call(task, candidate, all, request, "measure", all.deadlines.measure, how.seed, case)
  if not ran and name == "refused" then
    battery.unsuited(task, case)
    return sample(task, candidate, how, all)
  end
  if not ran or not ran.ok then return ran, message, name end
  if ran.saved ~= #ran.samples then
    return { ok = false, stage = "measure", reason = ("its worker kept the outputs of %s of %d timed calls")
      :format(tostring(ran.saved or "none"), #ran.samples) }
  end
  local compared
  compared, message, name = task:compare(ran.poison, ran.saved)
  if not compared then return nil, message, name end
  if case and battery.unsuitable(task, compared, case) then
    battery.unsuited(task, case)
    return sample(task, candidate, how, all)
  end
  local why = all.tolerance.timed and verdict.judge(compared, nil, all.tolerance)
  if why then
    return { ok = false, stage = "measure", reason = "while it was timed, " .. why }
  end
  return ran
end

-- One call whose time is modelled; of a task that is sizes only nothing was written that could be judged.
local function one_call(task, candidate, budget, all)
  if not task.sketched then return sample(task, candidate, { samples = 1, warmup = 0, budget = budget, case = true }, all) end
  local ran, message, name = execute.call(task, candidate, all, { op = "run" }, "measure", all.deadlines.measure)
  if ran and ran.ok then ran.samples = { ran.report.seconds or 0.0 } end
  return ran, message, name
end

-- What a baseline would take: PyTorch's by its model, another candidate's by its own.
local function modelled_rival(task, rival, times, all)
  if type(rival) == "string" then
    local t = times[rival]
    return t and { time_s = stats.summary { t }, samples = { t }, modelled = true }
      or { failed = (rival == "eager" or rival == "compile")
        and "PyTorch starts no kernel for this task" or "it is timed on a GPU only" }
  end
  local ran, message, name = one_call(task, rival, 1.0, all)
  if not ran then return nil, message, name end
  if not ran.ok then return { failed = ran.reason } end
  return { time_s = stats.summary(ran.samples), samples = ran.samples, modelled = true }
end

local function modelled(task, candidate, how, all)
  local ran, message, name = one_call(task, candidate, how.budget, all)
  if not ran or not ran.ok then return ran, message, name end
  local result = { ok = true, samples = ran.samples, time_s = stats.summary(ran.samples), speedup = {}, report = ran.report }
  local times = baseline_model.times(task.graph, task.device.info.rates, task.device.info.sms, task.memory)
  for _, rival in ipairs(how.against) do
    local b
    b, message, name = modelled_rival(task, rival, times, all)
    if not b then return nil, message, name end
    local kind = type(rival) == "string" and rival or rival.name
    task.baselines[kind] = b
    if b.time_s then result.speedup[kind] = stats.speedup(b.time_s, result.time_s) end
  end
  return result
end

local function measured(task, candidate, how, all)
  how.samples = how.samples or 2 * how.batch * how.rounds
  return duel.fight(task, candidate, how, function(t, c, batch) return sample(t, c, batch, all) end,
    function() return battery.timed(task, all.verify) end)
end

local known = { samples = true }
for key in pairs(require("cawb.base.defaults").measure) do known[key] = true end

--- How to measure: `opts` over the options `measure`.
function M.how(measure, opts)
  local how = options.copy(measure)
  for key, value in pairs(opts or {}) do how[key] = value end
  return how
end

--- Time a kernel. `all` are options, of which `measure`, `tolerance`, `deadlines` and `plan` count; `opts` stands over
--- `measure`: { against = {"eager", "compile", or other candidates}, samples = without baselines,
--- budget =, ... }. Returns { ok = true, time_s = { median, lo, hi, samples }, samples =
--- {seconds}, speedup = { eager = { median, lo, hi, rounds, verdict } }, launch_bound_s =,
--- clock_hz =, throttled =, baselines =, modelled =, report = counters of a task that is sizes only }, a failure as data, or nil, message,
--- name. Another candidate's speedup stands under its name.
function M.measure(task, candidate, all, opts)
  options.known(opts, known, "measure", 2)
  local how, is_modelled = M.how(all.measure, opts), task.device.info.modelled
  local result, message, name = (is_modelled and modelled or measured)(task, candidate, how, all)
  if not result or not result.ok then return result, message, name end
  result.modelled, result.baselines = is_modelled, task.baselines
  return result
end

return M
