-- verify: is a candidate right? It runs on fresh secret inputs, its outputs poisoned before;
-- what it wrote is judged (judge.lua), on kinds of inputs that the task never announced too
-- (battery.lua).

local battery = require "cawb.judge.battery"
local execute = require "cawb.device.execute"
local judge = require "cawb.judge.judge"
local options = require "cawb.base.options"
local sanitizer = require "cawb.judge.sanitizer"

local M = {}

-- One run on fresh inputs, compared. Returns what it ran as, with `compared`, or as execute.run.
local function compare(task, candidate, case, seed)
  local ran, message, name = execute.run(task, candidate, case, seed)
  if not ran or not ran.ok then return ran, message, name end
  ran.compared, message, name = task:compare(ran.poison)
  if not ran.compared then return nil, message, name end
  return ran
end

-- What a simulated device saw, each place once.
local function note_finding(result, report)
  local found = sanitizer.simulated(report)
  if not found then return end
  result.findings = result.findings or {}
  for _, f in ipairs(result.findings) do
    if f.kind == found.kind and f.kernel == found.kernel and f.line == found.line then return end
  end
  table.insert(result.findings, found)
end

local function trial(task, candidate, tolerance, result, seed)
  local ran, message, name = compare(task, candidate, nil, seed)
  if not ran or not ran.ok then return ran, message, name end
  local compared = ran.compared
  judge.note_error(result.error, compared)
  note_finding(result, ran.report)
  result.report, result.built, result.steps = ran.report, ran.built, ran.steps
  result.trials[#result.trials + 1] = { outputs = compared.slots[1], reference = compared.reference }
  local why = judge.judge(compared, ran.report, tolerance)
  if why then return { ok = false, stage = "verify", reason = why } end
  return ran
end

-- The same inputs `times` more: are the outputs the same, bit by bit? Notes it in
-- result.repeatable. Returns as execute.run.
local function again(task, candidate, seed, times, result)
  local first, message, name = task:ask { op = "mark" }
  if not first then return nil, message, name end
  result.repeatable = true
  for _ = 1, times do
    local ran, mark
    ran, message, name = execute.run(task, candidate, nil, seed)
    if not ran or not ran.ok then return ran, message, name end
    mark, message, name = task:ask { op = "mark" }
    if not mark then return nil, message, name end
    result.repeatable = result.repeatable and mark.mark == first.mark
  end
  return result
end

-- One kind, or one stage of a relation; returns as trial does.
local function challenge(task, candidate, step, result)
  local ran, message, name = compare(task, candidate, step.case, step.seed)
  if not ran then return nil, message, name end
  if not ran.ok then
    ran.reason = ("on inputs of the kind '%s': %s"):format(step.case, ran.reason)
    return ran
  end
  local why = battery.weigh(task, ran.compared, ran.report, step.case, result.battery)
  return why and { ok = false, stage = "verify", reason = why } or ran
end

local function trials_of(opts, task)
  local trials = opts and opts.trials or task.options.verify.trials
  if not (math.type(trials) == "integer" and trials >= 1) then
    error("verify: trials must be a whole number of at least 1", 3)
  end
  return trials
end

--- Verify a candidate on `opts.trials` fresh inputs (default: the option
--- verify.trials), and once on each kind in `opts.battery` (verify.battery); the first
--- inputs `opts.repeats` (verify.repeats) times more. Returns { ok = true, trials =
--- {statistics}, error = { worst, nrms, eager = {...} }, battery = { kind = { nrms, eager } },
--- repeatable = bit by bit, products = { checked = against a secret vector, outputs = which, or why
--- not }, report = counters of the last run, findings = of a simulated device,
--- as of cawb.sanitize, where there are any }, a failure as data, or nil,
--- message, name.
function M.verify(task, candidate, opts)
  options.known(opts, { trials = true, battery = true, repeats = true }, "verify", 2)
  local trials, tolerance = trials_of(opts, task), task.options.tolerance
  if task.sketched then
    return { ok = false, stage = "verify", reason = "not checked: with --scale full only some blocks are "
      .. "executed, and the rest of the output stays unwritten; verify with --scale fit" }
  end
  local result = { ok = true, trials = {}, error = { eager = {} }, battery = {},
                   products = task.products }
  local function step(f, ...)
    local ran, message, name = f(...)
    if ran and not ran.ok then
      ran.trials, ran.error, ran.report, ran.battery = result.trials, result.error, result.report, result.battery
      ran.findings = result.findings
      return ran
    elseif not ran then
      return nil, message, name
    end
    return result
  end
  local done, message, name
  local repeats = opts and opts.repeats or task.options.verify.repeats
  for i = 1, trials do
    local seed = task.next_seed "run"
    done, message, name = step(trial, task, candidate, tolerance, result, seed)
    if done and done.ok and i == 1 and repeats > 0 then
      done, message, name = step(again, task, candidate, seed, repeats, result)
    end
    if not done or not done.ok then return done, message, name end
  end
  local steps
  steps, message, name = battery.steps(task, opts, result.battery)
  if not steps then return nil, message, name end
  for _, one in ipairs(steps) do
    done, message, name = step(challenge, task, candidate, one, result)
    if not done or not done.ok then return done, message, name end
  end
  return result
end

return M
