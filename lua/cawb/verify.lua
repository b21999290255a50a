-- verify: is a candidate right? Fresh secret inputs, poisoned outputs, and its
-- error against float64 held against eager PyTorch's own. Every comparison is
-- written so that NaN fails it.

local execute = require "cawb.execute"
local options = require "cawb.options"
local sanitizer = require "cawb.sanitizer"
local tolerances = require "cawb.tolerance"

local M = {}

local function place(index)
  if type(index) ~= "table" or #index == 0 then return "" end
  return (" at [%s]"):format(table.concat(index, ", "))
end

local function number(x) return type(x) == "number" and ("%.4g"):format(x) or tostring(x) end

-- What one statistic may be: the larger of factor x eager's and the floor.
local function limit(eager, scale, floor, factor)
  return math.max(factor * (eager or 0), floor * (scale or 0))
end

local function check_unwritten(o, label)
  if o.unwritten == 0 then return nil end
  return ("%s: %d of %d elements were never written"):format(label, o.unwritten, o.numel)
end

local wrong_kind = {
  { "nan", "%s: %d elements are NaN where the reference is a number, the first%s" },
  { "nan_missing", "%s: %d elements are numbers where the reference is NaN, the first%s" },
  { "inf_mismatch", "%s: %d elements differ from the reference in being infinite, the first%s" },
}

local function check_finite(o, label)
  for _, kind in ipairs(wrong_kind) do
    local count = o[kind[1]] or 0
    if count > 0 then return kind[2]:format(label, count, place(o.worst and o.worst.index)) end
  end
end

local function check_exact(o, label)
  if not o.mismatches or o.mismatches == 0 then return nil end
  return ("%s: %d of %d elements differ, the first%s")
    :format(label, o.mismatches, o.numel, place(o.first and o.first.index))
end

local function check_worst(o, label, tolerance, floor)
  local most = limit(o.eager.worst, o.scale, floor.worst, tolerance.factor)
  local error = o.worst and o.worst.error
  if error and error <= most then return nil end
  return ("%s is wrong%s: got %s, want %s; the error %s is above %s (%g x eager PyTorch's own, "
    .. "or the floor)"):format(label, place(o.worst and o.worst.index), number(o.worst.got),
    number(o.worst.want), number(error), number(most), tolerance.factor)
end

local function check_nrms(o, label, tolerance, floor)
  local most = limit(o.eager.nrms, 1, floor.nrms, tolerance.factor)
  if o.nrms and o.nrms <= most then return nil end
  local row = o.worst_row and (", worst in row %d"):format(o.worst_row.index) or ""
  return ("%s is wrong overall: normalised rms error %s is above %s%s")
    :format(label, number(o.nrms), number(most), row)
end

-- A row that is wrong in itself, however small beside the others.
local function check_row(o, label, tolerance, floor)
  local row = o.worst_row
  if not row or not row.rows or row.rows < 2 then return nil end
  local eager = o.eager.worst_row and o.eager.worst_row.nrms or 0
  local most = math.max(tolerance.factor * eager, tolerance.row * floor.nrms)
  -- All of a few elements may cancel at once.
  if o.numel < tolerance.short * row.rows then most = most * tolerance.short_row end
  if row.nrms and row.nrms <= most then return nil end
  return ("%s is wrong in row %d: its normalised rms error %s is above %s")
    :format(label, row.index, number(row.nrms), number(most))
end

-- A product of matrices times a secret vector, by the host beside the reference.
local function check_product(o, label, floor)
  if o.product == nil then return nil end
  local most = math.max(floor.nrms, 1e-12)
  if type(o.product) == "number" and o.product <= most then return nil end
  return ("%s times a secret vector is off by %s of its factors' size; at most %s passes")
    :format(label, number(o.product), number(most))
end

-- The share of normally distributed values that lie so near to zero that the error which
-- all of them have is far for their own size (P(|x| < e) < 0.8 e, twice that to be sure).
-- What a 16-bit type rounds is small where the value is.
local function near_zero(o, floor)
  local rounding = o.dtype:find "16$" and floor.nrms or 0
  return 2 * math.max(0, (o.nrms or 0) - rounding) / o.far_above
end

-- Elements that are far off for their own size, though none is for the largest.
local function check_far(o, label, tolerance, floor)
  if not o.far then return nil end
  -- A sum that happens to cancel counts in a small output, the more where it then stays so.
  local most = tolerance.factor * (o.eager.far or 0) + tolerance.far + near_zero(o, floor) + 10 / o.numel
  if o.far <= most then return nil end
  return ("%s: %.3g%% of the elements are far from the reference for their own size; eager "
    .. "PyTorch has %.3g%%"):format(label, 100 * o.far, 100 * (o.eager.far or 0))
end

local function judge_output(o, label, tolerance)
  local why = check_unwritten(o, label) or check_finite(o, label) or check_exact(o, label)
  if why or o.mismatches then return why end
  local floor = tolerance.floors[o.dtype] or tolerance.floors.float32
  return check_worst(o, label, tolerance, floor) or check_nrms(o, label, tolerance, floor)
    or check_row(o, label, tolerance, floor) or check_far(o, label, tolerance, floor)
    or check_product(o, label, floor)
end

-- What a candidate does besides computing: races, and inputs that are not as they were.
local function misconduct(compared, report, tolerance)
  if tolerance.findings ~= false and report and report.races and report.races > 0 then
    local where, what = report.race:match "^(%a+ memory): (.*)"
    if where == "uninitialised memory" then
      return ("it reads memory that nothing has written, %d times: %s"):format(report.races, what)
    end
    return ("a race on %s, %d times: %s"):format(where or "shared memory", report.races,
      what or report.race)
  end
  if compared.changed and #compared.changed > 0 then
    return ("it writes to %s; inputs and parameters are read-only")
      :format(table.concat(compared.changed, ", "))
  end
end

--- Why the compared outputs are unacceptable, or nil when they pass.
function M.judge(compared, report, tolerance)
  local why = tolerance.conduct and misconduct(compared, report, tolerance)
  if why then return why end
  if tolerance.protocol == "allclose" then return tolerances.allclose(compared.slots, tolerance) end
  for _, outputs in ipairs(compared.slots) do
    for i, o in ipairs(outputs) do
      why = judge_output(o, ("outputs[%d]"):format(i), tolerance)
      if why then return why end
    end
  end
end

-- The largest errors over trials and outputs: what a turn's row shows.
local function note_error(sum, compared)
  sum.eager = sum.eager or {}
  for _, o in ipairs(compared.slots[1]) do
    local e = o.eager or {}
    for key, value in pairs { worst = o.worst and o.worst.error, nrms = o.nrms } do
      if value then sum[key] = math.max(sum[key] or 0, value) end
    end
    for _, key in ipairs { "worst", "nrms" } do
      if e[key] then sum.eager[key] = math.max(sum.eager[key] or 0, e[key]) end
    end
  end
end

M.note_error = note_error

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
  note_error(result.error, compared)
  note_finding(result, ran.report)
  result.report, result.built, result.steps = ran.report, ran.built, ran.steps
  result.trials[#result.trials + 1] = { outputs = compared.slots[1], reference = compared.reference }
  local why = M.judge(compared, ran.report, tolerance)
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

-- ---- kinds of inputs that the task never announced

-- Operators that whole numbers go through without rounding, in any order of their sums.
local exact = { add = true, sub = true, rsub = true, mul = true, neg = true, sum = true, mm = true, bmm = true,
                addmm = true, baddbmm = true, relu = true, clamp = true, clamp_min = true, abs = true, max = true,
                min = true, amax = true, amin = true, maximum = true, minimum = true, where = true, clone = true,
                cumsum = true, tril = true, triu = true, cat = true, copy = true, threshold = true }

local function is_exact(task)
  for _, op in ipairs(task.graph) do
    if not exact[(op.op or ""):match "^%w+%.([%w_]-)_?%." or ""] then return false end
  end
  return true
end

-- Whether a factor is known to hold zeros: a diagonal, a triangle, the padding that weights
-- meet which are inputs.
local function has_structure(task)
  for _, op in ipairs(task.graph) do
    local name, weight = op.op or "", op.inputs and op.inputs[2]
    if name:find "%.diag" or name:find "%.tri[lu]" then return true end
    if op.kind == "convolution" and weight and not (weight.source or ""):find "^param:" then return true end
  end
  return false
end

-- From about here on rounding decides whether a result is infinite.
local overflows = { float32 = 1e37, bfloat16 = 1e37, float16 = 3e4, float64 = 1e307 }

--- Why a kind says nothing of this task: the reference has values that are no numbers, or
--- PyTorch's own result is far from it; or nil.
function M.unsuitable(task, compared, case)
  if (case == "nan" or case == "nonfinite") and has_structure(task) then
    return "zeros times NaN are NaN, and a kernel that knows of the zeros need not multiply"
  end
  for _, o in ipairs(compared.slots[1]) do
    local e = o.eager
    if o.mismatches then return "its outputs are whole numbers, where equals may be ordered differently" end
    if case ~= "nan" and case ~= "nonfinite" and (o.odd or 0) > 0 then return "the reference is not finite" end
    if o.scale and o.scale > overflows[o.dtype] then return "the reference is out of the type's range" end
    if not (e and e.worst and e.nrms and e.nrms <= 1e-2) then return "PyTorch itself is far from the reference" end
  end
end

--- The tolerance for one kind of inputs, from that for the task's own.
function M.tolerance_of(task, tolerance, case, compared)
  local t = options.copy(tolerance)
  if case == "integers" and is_exact(task) then
    local right = true
    for _, o in ipairs(compared.slots[1]) do right = right and o.eager.worst == 0 and o.scale < 2 ^ 24 end
    if right then
      for _, floor in pairs(t.floors) do floor.worst, floor.nrms = 0, 0 end
    end
  elseif case ~= "mixed" and case ~= "integers" and case ~= "edges" then
    t.factor = t.battery_factor
  end
  return t
end

local function bytes_of(specs)
  local total = 0
  for _, spec in ipairs(specs) do total = total + (spec.bytes or (spec.items and bytes_of(spec.items)) or 0) end
  return total
end

--- What a candidate wrote for one kind of inputs: why it is unacceptable, or nil. What was
--- seen is put into battery[case].
function M.weigh(task, compared, report, case, battery)
  local odd = M.unsuitable(task, compared, case)
  local seen = { error = { eager = {} }, left_out = odd }
  battery[case] = seen
  if odd then return nil end
  note_error(seen.error, compared)
  seen.nrms, seen.eager = seen.error.nrms, seen.error.eager.nrms
  local why = M.judge(compared, report, M.tolerance_of(task, task.options.tolerance, case, compared))
  return why and ("on inputs of the kind '%s': %s"):format(case, why)
end

-- One kind; returns as trial does.
local function challenge(task, candidate, case, result)
  local ran, message, name = compare(task, candidate, case)
  if not ran then return nil, message, name end
  if not ran.ok then
    ran.reason = ("on inputs of the kind '%s': %s"):format(case, ran.reason)
    return ran
  end
  local why = M.weigh(task, ran.compared, ran.report, case, result.battery)
  return why and { ok = false, stage = "verify", reason = why } or ran
end

local function trials_of(opts, task)
  local trials = opts and opts.trials or task.options.verify.trials
  if not (math.type(trials) == "integer" and trials >= 1) then
    error("verify: trials must be a whole number of at least 1", 3)
  end
  return trials
end

--- The kinds of inputs to try, few where inputs are large.
function M.kinds(task, opts)
  local list = opts and opts.battery or task.options.verify.battery
  local small = bytes_of(task.inputs) <= task.options.verify.battery_bytes
  return (small or #list == 0) and list or task.options.verify.huge
end

--- Verify a candidate on `opts.trials` fresh inputs (default: the option
--- verify.trials), and once on each kind in `opts.battery` (verify.battery); the first
--- inputs `opts.repeats` (verify.repeats) times more. Returns { ok = true, trials =
--- {statistics}, error = { worst, nrms, eager = {...} }, battery = { kind = { nrms, eager } },
--- repeatable = bit by bit, report = counters of the last run, findings = of a simulated device,
--- as of cawb.sanitize, where there are any }, a failure as data, or nil,
--- message, name.
function M.verify(task, candidate, opts)
  options.known(opts, { trials = true, battery = true, repeats = true }, "verify", 2)
  local trials, tolerance = trials_of(opts, task), task.options.tolerance
  if task.sketched then
    return { ok = false, stage = "verify", reason = "not checked: with --scale full only some blocks are "
      .. "executed, and the rest of the output stays unwritten; verify with --scale fit" }
  end
  local result = { ok = true, trials = {}, error = { eager = {} }, battery = {} }
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
  for _, case in ipairs(M.kinds(task, opts)) do
    done, message, name = step(challenge, task, candidate, case, result)
    if not done or not done.ok then return done, message, name end
  end
  return result
end

return M
