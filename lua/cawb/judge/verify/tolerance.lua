-- tolerance: are outputs that were compared with their reference acceptable? Statistics in, a
-- reason or nothing out: an error against float64 is held against eager PyTorch's own. Every
-- comparison is written so that NaN fails it.

local tolerances = require "cawb.judge.verify.protocols"

local M = {}

local function place(index)
  if type(index) ~= "table" or #index == 0 then return "" end
  return (" at [%s]"):format(table.concat(index, ", "))
end

local function number(x) return type(x) == "number" and ("%.4g"):format(x) or tostring(x) end

-- Two numbers in as many digits as tell them apart.
local function distinct(a, b)
  if number(a) ~= number(b) or type(a) ~= "number" or type(b) ~= "number" then return number(a), number(b) end
  return ("%.9g"):format(a), ("%.9g"):format(b)
end

-- What one statistic may be: the larger of factor x eager's and the floor.
local function limit(eager, scale, floor, factor)
  return math.max(factor * (eager or 0), floor * (scale or 0))
end

local function check_unwritten(o, label)
  if o.unwritten == 0 then return nil end
  return ("%s: %d of %d elements were never written (%s)"):format(label, o.unwritten, o.numel,
    o.unwritten == o.numel and "which launch is given it, and does that store to it?" or "does the grid cover all of it, and does a guard keep threads from it?")
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

-- How much worse the score may be that an index points to, relative to the largest of its
-- row: two scores, each as far off as a value may be, could change places.
local function most_gap(index, tolerance)
  if index.exact then return 0 end
  local floor = tolerance.floors[index.dtype] or tolerance.floors.float32
  return 2 * math.max(tolerance.factor * index.eager, floor.worst)
end

local function check_index(o, label, tolerance)
  local i = o.index
  local differ = ("%s: %d of %d indices differ, the first%s"):format(label, o.mismatches, o.numel,
    place(o.first and o.first.index))
  if i.outside > 0 then return ("%s; %d lie outside of their row"):format(differ, i.outside) end
  if i.repeated > 0 then return ("%s; %d come twice in their row"):format(differ, i.repeated) end
  local most = most_gap(i, tolerance)
  if not (type(i.gap) == "number" and i.gap <= most) then
    return ("%s: what they point to is off by %s of its row's largest, at most %s passes"):format(differ,
      number(i.gap), number(most))
  end
  if i.later == 0 then return nil end
  return ("%s: they point to equal values, of which PyTorch documents %s"):format(differ,
    i.ties == "order" and "that a stable sort keeps their order" or i.op .. " to return the first")
end

local function check_exact(o, label, tolerance)
  if not o.mismatches or o.mismatches == 0 then return nil end
  if o.index then return check_index(o, label, tolerance) end
  return ("%s: %d of %d elements differ, the first%s")
    :format(label, o.mismatches, o.numel, place(o.first and o.first.index))
end

-- How much larger an output of a few elements usually is than this time, where all of them
-- may have cancelled.
local function cancelled(o)
  return o.typical and (o.scale or 0) > 0 and math.max(1, o.typical / o.scale) or 1
end

local function check_worst(o, label, tolerance, floor)
  local most = limit(o.eager.worst, o.scale, cancelled(o) * floor.worst, tolerance.factor)
  local error = o.worst and o.worst.error
  if error and error <= most then return nil end
  local got, want = distinct(o.worst and o.worst.got, o.worst and o.worst.want)
  return ("%s is wrong%s: got %s, want %s; the error %s is above %s (%g x eager PyTorch's own, "
    .. "or the floor)"):format(label, place(o.worst and o.worst.index), got,
    want, number(error), number(most), tolerance.factor)
end

local function check_nrms(o, label, tolerance, floor)
  local most = limit(o.eager.nrms, 1, cancelled(o) * floor.nrms, tolerance.factor)
  if o.nrms and o.nrms <= most then return nil end
  local row = o.worst_row and (", worst in row %d"):format(o.worst_row.index) or ""
  return ("%s is wrong overall: normalised rms error %s is above %s%s")
    :format(label, number(o.nrms), number(most), row)
end

-- Whether few of a row's elements are numbers beside zeros, as behind a ReLU that lets little
-- through: what just came through is small beside the terms that it is made of, and its row has
-- no other size. `worst` and `far` judge such elements.
local function mostly_zeros(o, rows, tolerance)
  local zeros = o.zeros or 0
  return zeros > o.numel / 2 and o.numel - zeros < tolerance.short * rows
end

-- A row that is wrong in itself, however small beside the others.
local function check_row(o, label, tolerance, floor)
  local row = o.worst_row
  if not row or not row.rows or row.rows < 2 or mostly_zeros(o, row.rows, tolerance) then return nil end
  local eager = o.eager.worst_row and o.eager.worst_row.nrms or 0
  local most = math.max(tolerance.factor * eager, tolerance.row * floor.nrms)
  -- All of a few elements may cancel at once.
  if o.numel < tolerance.short * row.rows then most = most * tolerance.short_row end
  if row.nrms and row.nrms <= most then return nil end
  return ("%s is wrong in row %d: its normalised rms error %s is above %s")
    :format(label, row.index, number(row.nrms), number(most))
end

-- What is linear in products of matrices times a secret vector, by the host beside the
-- reference.
local function check_product(o, label, tolerance, floor)
  if o.product == nil then return nil end
  local most = math.max(floor.nrms, tolerance.factor * (o.eager.product or 0), 1e-12)
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

-- An error that the whole hides: at one sign and magnitude. Where an output rounds more coarsely than `small`, eager PyTorch's error says
-- little: on a processor it may add in float64, whose sums cancel further.
local function check_part(o, label, tolerance, floor)
  local part = o.terms and o.terms.part
  local relative = part and part["from"] < 1e-3 and not (floor.nrms <= tolerance.small and part.eager <= tolerance.part * floor.nrms)
  local most = part and (relative and tolerance.slight or part["from"] < 1e-3 and tolerance.small or tolerance.part * floor.nrms)
  if not part or part.nrms <= math.max(most, 3 * part.eager) then return nil end
  return ("%s: where the reference is %s and near %s of its root mean square, the error is %s of its size, at most %s passes")
    :format(label, part.sign == "-" and "negative" or "positive", number(part["from"]), number(part.nrms), number(most))
end

-- Each of few elements by its own size, or that of its terms.
local function check_own(o, label, tolerance, floor)
  local t = o.terms
  if not t or not t.own or o.numel > tolerance.few then return nil end
  local most = math.max(tolerance.factor * (t.eager.own or 0), tolerance.row * floor.worst)
  if t.own <= most then return nil end
  return ("%s: an element is off by %s of its own size and that of its terms, at most %s passes"):format(label, number(t.own),
    number(most))
end

-- Elements of a size of their own, such as the -1e38 of a mask.
local function check_apart(o, label)
  local a = o.apart
  if not a or a.wrong == 0 then return nil end
  return ("%s: %d of %d elements that are far larger than all others, up to %s, are off by up to %s of their size, at most %s passes")
    :format(label, a.wrong, a.count, number(a.largest), number(a.error), number(a.limit))
end

-- A factor that all elements have: rounding goes both ways, so over many elements little of it is left. Six standard errors are no chance. Eager
-- PyTorch's error is one draw of its roundings: where all elements share a few of these it may be small by chance.
local function check_slope(o, label, tolerance, floor)
  local s = o.slope
  if not s or not s.eager or not (s.magnitudes >= tolerance.enough) then return nil end
  for _, key in ipairs { "factor", "offset" } do
    local eager = math.max(math.abs(s.eager[key]), s[key .. "_rounded"] or 0)
    local most = math.max(tolerance.slope * floor.nrms, tolerance.factor * eager, 6 * s[key .. "_noise"])
    if not (math.abs(s[key]) <= most) then
      return ("%s: all of it is off by %s %s of %s; eager PyTorch's is off by %s, at most %s passes"):format(label,
        key == "factor" and "a factor, by" or "the same amount,", number(s[key]), key == "factor" and "the reference" or "its root mean square",
        number(s.eager[key]), number(most))
    end
  end
end

local function check_errors(o, label, tolerance, floor)
  return check_worst(o, label, tolerance, floor) or check_nrms(o, label, tolerance, floor)
    or check_row(o, label, tolerance, floor) or check_far(o, label, tolerance, floor)
end

-- Eager PyTorch's errors, or those of straightforward kernels where these are larger, in the measure of `factor`.
local function larger(eager, plain, share)
  local found = {}
  for key, value in pairs(eager) do found[key] = value end
  for _, key in ipairs { "worst", "nrms", "far", "own" } do
    if plain[key] then found[key] = math.max(found[key] or 0, share * plain[key]) end
  end
  local mine, row = eager.worst_row, plain.worst_row
  if row and not (mine and mine.nrms >= share * row.nrms) then
    found.worst_row = { index = row.index, rows = row.rows, nrms = share * row.nrms }
  end
  return found
end

-- The same output held against the less exact of eager PyTorch and straightforward kernels.
local function beside_plain(o, tolerance)
  if not o.plain then return o end
  local share, seen = (tolerance.plain or 3) / tolerance.factor, {}
  for key, value in pairs(o) do seen[key] = value end
  seen.eager = larger(o.eager, o.plain, share)
  if o.terms and o.terms.plain then
    seen.terms = {}
    for key, value in pairs(o.terms) do seen.terms[key] = value end
    seen.terms.eager = larger(o.terms.eager, o.terms.plain, share)
  end
  return seen
end

-- The same output with its errors beside the terms that its elements are made of: what cancels may
-- be off by more than its own size allows.
local function beside_terms(o)
  local t, seen = o.terms, {}
  for key, value in pairs(o) do seen[key] = value end
  seen.nrms, seen.far, seen.worst_row, seen.eager, seen.typical = t.nrms, t.far, t.worst_row, t.eager, nil
  if o.scale == 0 then seen.scale = 1 end        -- all of it should be zero: errors are in its terms' sizes
  seen.worst = { index = o.worst and o.worst.index, got = o.worst and o.worst.got, want = o.worst and o.worst.want,
                 error = t.worst }
  return seen
end

-- Whether an output's errors are nothing beside what went in: where all of a sigmoid's results vanish
-- nothing but rounding is left.
local function vanishes(o, tolerance, floor)
  return o.largest and o.worst and o.worst.error and o.worst.error <= tolerance.vanishing * floor.worst * o.largest
end

-- The floor for an output. What a reference of its own type is off by grows with its sums' lengths;
-- a floor of 0 asks for every bit, and stays.
local function floor_of(o, tolerance)
  local floor = tolerance.floors[o.dtype] or tolerance.floors.float32
  -- Of few magnitudes eager PyTorch's own error is small by chance, and says little of what rounding on the way to them may come to.
  if o.slope and floor.few and o.slope.magnitudes < tolerance.enough then return { worst = floor.few * floor.worst, nrms = floor.few * floor.nrms } end
  if not (o.roundings and floor.step) or floor.worst == 0 then return floor end
  local most = math.min(floor.step * o.roundings, floor.most)
  return { worst = math.max(floor.worst, most), nrms = math.max(floor.nrms, most) }
end

-- The tolerance for an output. On inputs on which operators are badly conditioned PyTorch is off by some factor more or less
-- than another right kernel, in some rows; the terms say in which, and where they are not known all rows have that factor.
local function tolerance_for(o, tolerance)
  if not tolerance.without_terms or o.terms then return tolerance end
  return setmetatable({ factor = tolerance.without_terms }, { __index = tolerance })
end

local function judge_output(o, label, tolerance)
  tolerance = tolerance_for(o, tolerance)
  if o.spared then return nil end              -- these inputs say nothing of it
  local why = check_unwritten(o, label) or check_apart(o, label) or check_finite(o, label) or check_exact(o, label, tolerance)
  if why or o.mismatches then return why end
  o = beside_plain(o, tolerance)
  local floor = floor_of(o, tolerance)
  if vanishes(o, tolerance, floor) then return nil end
  why = check_errors(o, label, tolerance, floor)
  if why and o.terms and floor.nrms > 0 then why = check_errors(beside_terms(o), label, tolerance, floor) and why end
  return why or check_slope(o, label, tolerance, floor) or check_product(o, label, tolerance, floor) or check_part(o, label, tolerance, floor)
    or check_own(o, label, tolerance, floor)
end

-- What a candidate does besides computing: races, and inputs that are not as they were.
local function misconduct(compared, report, tolerance)
  if tolerance.findings ~= false and report and report.races and report.races > 0 then
    local race = report.race or "the device does not say where"
    local where, what = race:match "^(%a+ memory): (.*)"
    if where == "uninitialised memory" then
      return ("it reads memory that nothing has written, %d times: %s"):format(report.races, what)
    end
    local misused, how = race:match "^misused (%a+): (.*)"
    if misused then return ("it misuses a %s, %d times: %s"):format(misused, report.races, how) end
    return ("a race on %s, %d times: %s"):format(where or "shared memory", report.races,
      what or race)
  end
  if compared.changed and #compared.changed > 0 then
    return ("it writes to %s; inputs and parameters are read-only")
      :format(table.concat(compared.changed, ", "))
  end
  if compared.kept then
    return ("a call leaves %s changed, which prepare made; prepare runs once ahead of many calls: use scratch of its own for it")
      :format(compared.kept)
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

--- The largest errors over trials and outputs, into `sum`: what a turn's row shows.
function M.note_error(sum, compared)
  sum.eager = sum.eager or {}
  for _, o in ipairs(compared.slots[1]) do
    local e = not o.spared and o.eager or {}
    for key, value in pairs { worst = not o.spared and o.worst and o.worst.error, nrms = not o.spared and o.nrms } do
      if value then sum[key] = math.max(sum[key] or 0, value) end
    end
    for _, key in ipairs { "worst", "nrms" } do
      if e[key] then sum.eager[key] = math.max(sum.eager[key] or 0, e[key]) end
    end
  end
end

return M
