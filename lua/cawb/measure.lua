-- measure: how long does a candidate take, and how much faster is it than
-- PyTorch? On a simulated device both are modelled, and say so.

local baseline_model = require "cawb.baseline_model"
local execute = require "cawb.execute"
local stats = require "cawb.stats"
local verify = require "cawb.verify"

local M = {}

local function measured_baselines(task, kinds)
  local how = task.options.measure
  local reply, message, name = task:ask { op = "baselines", kinds = kinds,
    samples = how.samples, budget = how.budget, seed = task.next_seed "baselines" }
  if not reply then return nil, message, name end
  local found = {}
  for _, kind in ipairs(kinds) do
    local b = reply[kind] or { failed = "the task host did not time it" }
    found[kind] = b.failed and { failed = b.failed }
      or { time_s = stats.summary(b.samples), samples = b.samples, error = b.error, modelled = false }
  end
  return found
end

local function modelled_baselines(task, kinds)
  local times = baseline_model.times(task.graph, task.device.info.rates)
  local found = {}
  for _, kind in ipairs(kinds) do
    found[kind] = times[kind] and { time_s = stats.summary { times[kind] },
      samples = { times[kind] }, modelled = true } or { failed = "it has no model" }
  end
  return found
end

--- The baselines of a task, each { time_s = summary, samples =, modelled = } or
--- { failed = reason }; measured or modelled once and then kept.
function M.baselines(task, kinds)
  local missing = {}
  for _, kind in ipairs(kinds) do
    if not task.baselines[kind] then missing[#missing + 1] = kind end
  end
  if #missing > 0 then
    local get = task.device.info.modelled and modelled_baselines or measured_baselines
    local found, message, name = get(task, missing)
    if not found then return nil, message, name end
    for kind, b in pairs(found) do task.baselines[kind] = b end
  end
  return task.baselines
end

local function speedups(time_s, baselines, kinds)
  local s = {}
  for _, kind in ipairs(kinds) do
    local b = baselines[kind]
    if b and b.time_s then s[kind] = stats.speedup(b.time_s, time_s) end
  end
  return s
end

-- Time it; what the last timed call wrote is judged like any other output.
local function timed(task, candidate, how)
  local request = { op = "time", warmup = how.warmup, samples = how.samples,
                    budget = how.budget }
  local ran, message, name =
    execute.call(task, candidate, request, "measure", task.options.deadlines.measure)
  if not ran or not ran.ok then return ran, message, name end
  local compared
  compared, message, name = task:compare(ran.poison)
  if not compared then return nil, message, name end
  local why = verify.judge(compared, nil, task.options.tolerance)
  if why then
    return { ok = false, stage = "measure", reason = "while it was timed, " .. why }
  end
  return ran
end

--- Time a candidate against baselines. `opts`: { against = {"eager", "compile"},
--- samples =, budget =, warmup = } over the options of `measure`. Returns { ok = true,
--- time_s = { median, lo, hi, samples }, samples = {seconds}, speedup = { eager =
--- { median, lo, hi } }, baselines =, modelled = }, a failure as data, or nil, ...
function M.measure(task, candidate, opts)
  local how = setmetatable(opts or {}, { __index = task.options.measure })
  local ran, message, name = timed(task, candidate, how)
  if not ran or not ran.ok then return ran, message, name end
  local baselines
  baselines, message, name = M.baselines(task, how.against)
  if not baselines then return nil, message, name end
  local time_s = stats.summary(ran.samples)
  return { ok = true, time_s = time_s, samples = ran.samples, baselines = baselines,
    speedup = speedups(time_s, baselines, how.against),
    modelled = task.device.info.modelled, steps = ran.steps }
end

return M
