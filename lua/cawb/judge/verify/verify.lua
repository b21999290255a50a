-- verify: the sequential core of judging, one for every kind of candidate. It runs on fresh
-- secret inputs, its outputs poisoned before; what it wrote is judged (tolerance.lua), on kinds of
-- inputs that the task never announced too (battery.lua).

local activity = require "cawb.base.activity"
local battery = require "cawb.judge.verify.battery"
local execute = require "cawb.judge.worker.execute"
local verdict = require "cawb.judge.verify.tolerance"
local known = require("cawb.base.options").known
local sanitizer = require "cawb.judge.verify.sanitizer"

local M = {}

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

-- Why nobody can tell right from wrong on the task's own inputs: PyTorch in the task's type is as far from float64 as a wrong
-- program would be. An output of few elements that happen to cancel is as large as it usually is. One that always cancels, such as
-- the mean of a normalised row, is noise for everybody; its error is small beside its terms.
local function unjudgeable(compared, tolerance)
  for i, o in ipairs(compared.slots[1]) do
    local error, most = o.eager and o.eager.nrms, tolerance.lost[o.dtype]
    local usual = o.typical and o.scale and o.typical > o.scale and o.scale / o.typical or 1
    local cancels = error and most and o.rms and error * o.rms <= tolerance.noise[o.dtype]
    if error and most and not cancels and not (error * usual <= most) then
      return ("it cannot be judged at %s: on the task's own inputs eager PyTorch is off by %.2g of outputs[%d]'s size, so a wrong "
        .. "kernel looks like a right one; make the task smaller, or better conditioned (fewer steps, smaller weights)"):format(o.dtype, error, i)
    end
  end
end

local function trial(state, seed)
  local ran, message, name = state.once(nil, seed)
  if not ran or not ran.ok then return ran, message, name end
  local compared, result = ran.compared, state.result
  verdict.note_error(result.error, compared)
  note_finding(result, ran.report)
  result.report, result.built, result.steps = ran.report, ran.built, ran.steps
  result.trials[#result.trials + 1] = { outputs = compared.slots[1], reference = compared.reference }
  local no = state.tolerance.protocol == "errors" and unjudgeable(compared, state.tolerance)
  if no then return { ok = false, stage = "verify", reason = no } end
  local why = verdict.judge(compared, ran.report, state.tolerance)
  if why and compared.unfit then why = ("%s (the task's own inputs cannot tell: %s)"):format(why, compared.unfit) end
  if why then return { ok = false, stage = "verify", reason = why } end
  return ran
end

-- The same inputs once more: are the outputs the same, bit by bit, as those of `mark`? Notes it
-- in result.repeatable.
local function again(state, seed, mark)
  local ran, message, name = state.once(nil, seed, true)
  if not ran or not ran.ok then return ran, message, name end
  local now
  now, message, name = state.task:ask { op = "mark" }
  if not now then return nil, message, name end
  state.result.repeatable = state.result.repeatable and now.mark == mark
  return ran
end

local function repeated(state, seed, times)
  local first, message, name = state.task:ask { op = "mark" }
  if not first then return nil, message, name end
  state.result.repeatable = true
  local ran = state.result
  for _ = 1, times do
    ran, message, name = again(state, seed, first.mark)
    if not ran or not ran.ok then return ran, message, name end
  end
  return ran
end

-- One kind, or one stage of a relation.
local function challenge(state, step, steps)
  local ran, message, name = state.once(step.case, step.seed)
  if not ran and name == "refused" then
    battery.unsuited(state.task, step.kind or step.case)
    state.result.battery[step.kind or step.case] = { left_out = "PyTorch refuses such inputs: " .. message }
    return state.result
  end
  if not ran then return nil, message, name end
  if not ran.ok then
    ran.reason = ("on inputs of the kind '%s': %s"):format(step.kind or step.case, ran.reason)
    return ran
  end
  local why = battery.weigh(state.task, ran.compared, ran.report, step.case, state.result.battery, state.tolerance)
  steps[#steps + 1] = battery.nearer(step.case, ran.compared)
  return why and { ok = false, stage = "verify", reason = why } or ran
end

-- Whether it flushes denormal numbers, where the task's results of such are some.
local function denormals(state)
  local ran, message, name = state.once "tiny"
  if not ran and name ~= "refused" then return nil, message, name end
  if not ran or not ran.ok then return state.result end
  local flushed = battery.flushes(state.task, ran.compared, state.tolerance)
  if flushed ~= nil then state.result.denormals = flushed and "flushed" or "kept" end
  return state.result
end

-- How many times the candidate will run; before the kinds of inputs are drawn, about.
local function expected(state, options, how, steps)
  local kinds = steps and #steps or #(how.battery or options.verify.battery)
  state.total = how.trials + how.repeats + kinds
  state.progress:step(state.ran, state.total)
end

-- Everything in order, until something fails. Returns as a trial does.
local function all(state, options, how)
  expected(state, options, how)
  for i = 1, how.trials do
    local seed = state.task.next_seed "run"
    local ran, message, name = trial(state, seed)
    if ran and ran.ok and i == 1 and how.repeats > 0 then ran, message, name = repeated(state, seed, how.repeats) end
    if not ran or not ran.ok then return ran, message, name end
  end
  local steps, message, name = battery.steps(state.task, options.verify, how.battery, state.result.battery)
  if not steps then return nil, message, name end
  expected(state, options, how, steps)
  for _, step in ipairs(steps) do
    local ran = state.result
    if not battery.is_unsuited(state.task, step.kind) then ran, message, name = challenge(state, step, steps) end
    if not ran or not ran.ok then return ran, message, name end
  end
  if how.denormals and #steps > 0 and not battery.is_huge(state.task, options.verify) then return denormals(state) end
  return state.result
end

-- What was seen goes with a failure too.
local function with_what_was_seen(failure, result)
  for _, key in ipairs { "trials", "error", "report", "battery", "findings" } do failure[key] = result[key] end
  return failure
end

--- Judge a candidate by what `once(case, seed, same)` does: run it once on fresh inputs of a kind
--- (nil: the task's own) and compare; { ok = true, compared =, report = where the device counts }, a
--- failure as data, or nil, message, name. `same` asks for no comparison: the inputs come again.
--- `options` has verify and tolerance; `how` is { trials =, repeats =, battery = kinds or nil, denormals = are
--- they looked at }.
--- Returns what M.verify does.
function M.check(task, once, options, how)
  local result = { ok = true, trials = {}, error = { eager = {} }, battery = {}, products = task.products }
  local progress <close> = activity.begin {}
  local state = { task = task, tolerance = options.tolerance, result = result, progress = progress, ran = 0, total = 1 }
  function state.once(...)
    local ran, message, name = once(...)
    state.ran = state.ran + 1
    progress:step(math.min(state.ran, state.total), state.total)
    return ran, message, name
  end
  local done, message, name = all(state, options, how)
  if not done then return nil, message, name end
  return done.ok and result or with_what_was_seen(done, result)
end

-- One run of a kernel, compared.
local function once_on(task, candidate, options)
  return function(case, seed, same)
    local ran, message, name = execute.run(task, candidate, options, case, seed)
    if not ran or not ran.ok or same then return ran, message, name end
    ran.compared, message, name = task:compare(ran.poison)
    if not ran.compared then return nil, message, name end
    ran.compared.kept = ran.kept
    return ran
  end
end

local function trials_of(opts, options)
  local trials = opts and opts.trials or options.verify.trials
  if not (math.type(trials) == "integer" and trials >= 1) then
    error("verify: trials must be a whole number of at least 1", 3)
  end
  return trials
end

--- Verify a kernel on `opts.trials` fresh inputs (default: the option verify.trials of
--- `options`), and once on each kind in `opts.battery` (verify.battery); the first inputs
--- `opts.repeats` (verify.repeats) times more. Returns { ok = true, trials =
--- {statistics}, error = { worst, nrms, eager = {...} }, battery = { kind = { nrms, eager, lowered } },
--- repeatable = bit by bit, products = { checked = against a secret vector, outputs = which, or why
--- not }, denormals = "kept" or "flushed" where it shows, report = counters of the last run, findings = of a simulated device,
--- as of cawb.sanitize, where there are any }, a failure as data, or nil,
--- message, name.
function M.verify(task, candidate, options, opts)
  known(opts, { trials = true, battery = true, repeats = true }, "verify", 2)
  local how = { trials = trials_of(opts, options), battery = opts and opts.battery,
                denormals = options.verify.denormals and not (opts and opts.battery),
                repeats = opts and opts.repeats or options.verify.repeats }
  if task.sketched then
    return { ok = false, stage = "verify", reason = "not checked: with --scale full only some blocks are "
      .. "executed, and the rest of the output stays unwritten; verify with --scale fit" }
  end
  return M.check(task, once_on(task, candidate, options), options, how)
end

return M
