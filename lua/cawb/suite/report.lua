-- report: the numbers of a suite as the field reports them, with their uncertainty. Rates
-- are shares of all tasks with Wilson's 95% interval; geometric means and medians are of the tasks that
-- passed, with a bootstrap over tasks (95%, percentile, 2000 draws from a fixed seed). What
-- is suspicious counts as passed and in no average.

local baseline_names = require "cawb.base.baseline_names"
local core = require "cawb.core"
local display = require "cawb.base.display"
local stats = require "cawb.base.stats"
local published = require "cawb.suite.published"
local task_rows = require "cawb.suite.rows"

local M = {}

--- A speed-up counts from here, with an interval without a tie.
M.least = 1 + stats.margin
M.surprising_from = 10          -- times the better of eager and compile, or of what else was timed: explained before it is believed
M.flags = { unsteady = true }   -- rules whose flag does the same; most flags only inform
M.moved = 0.2                   -- how far a confirmation may be from the first time
M.curve = { 0.5, 0.8, 1.0, M.least, 1.2, 1.5, 2.0, 3.0, 5.0 }
M.kinds = { "eager", "compile", "max_autotune", "equal_error" }

-- ---- statistics

--- Wilson's interval of k of n at 95%: { rate, lo, hi, k, n }.
function M.wilson(k, n)
  if n == 0 then return { rate = 0.0, lo = 0.0, hi = 1.0, k = 0, n = 0 } end
  local z, p = 1.959964, k / n
  local middle, scale = p + z * z / (2 * n), 1 + z * z / n
  local half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
  return { rate = p, lo = math.max(0, (middle - half) / scale), hi = math.min(1, (middle + half) / scale),
    k = k, n = n }
end

local function quantile(sorted, q)
  local at = 1 + (#sorted - 1) * q
  local low = math.floor(at)
  local high = math.min(low + 1, #sorted)
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low)
end

local function mean(list)
  local sum = 0.0
  for _, x in ipairs(list) do sum = sum + x end
  return sum / #list
end

local function median(list)
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted)
  return quantile(sorted, 0.5)
end

-- A generator of our own: the same numbers give the same interval, and nobody's math.random
-- is disturbed.
local function draws(seed)
  local state = seed
  return function(n)
    state = (state * 6364136223846793005 + 1442695040888963407)
    return ((state >> 33) % n) + 1
  end
end

--- A statistic of a list and its bootstrap interval: { value, lo, hi, n }; nil of nothing.
function M.bootstrap(list, statistic)
  local n = #list
  if n == 0 then return nil end
  if n == 1 then return { value = statistic(list), n = 1 } end
  local draw, values, again = draws(1), {}, {}
  for i = 1, 2000 do
    for j = 1, n do again[j] = list[draw(n)] end
    values[i] = statistic(again)
  end
  table.sort(values)
  return { value = statistic(list), lo = quantile(values, 0.025), hi = quantile(values, 0.975), n = n }
end

local function geomean(logs)
  local b = M.bootstrap(logs, mean)
  if not b then return nil end
  for _, key in ipairs { "value", "lo", "hi" } do b[key] = b[key] and math.exp(b[key]) end
  return b
end

-- ---- one row

local function speedup(row, kind)
  local best = row.data.best
  if not best then return nil end
  if kind == "equal_error" then return best.equal_error end
  return best.speedup and best.speedup[kind]
end

-- The least of those over these baselines, or nil where none was timed.
local function least(row, kinds)
  local best
  for _, kind in ipairs(kinds) do
    local s = speedup(row, kind)
    if s and (not best or s.median < best.median) then best = s end
  end
  return best
end

-- Against the faster of eager and compile; where neither was timed, of the others.
local function over_better(row)
  local s = least(row, { "eager", "compile" })
  if s then return s, "eager and compile" end
  return least(row, baseline_names.kinds), "the baselines"
end

-- The seconds that PyTorch took, by a speed-up over it.
local function of_pytorch(best, s) return display.time(s.median * best.time_s.median) end

-- The work that a rewrite may leave out, where that is much: PyTorch's operations beside those that any kernel needs, and the rewrite that
-- the judge finds in the recorded graph. What a candidate says of itself does not count.
local function left_out(floor)
  if not (floor.asked and floor.flops and floor.asked >= 2 * floor.flops) then return "" end
  return ("; of the %.3g GFLOP that PyTorch computes the result needs %.3g%s"):format(floor.asked / 1e9, floor.flops / 1e9,
    floor.spared and ": " .. floor.spared or "")
end

--- What makes a row that passed so much faster, as text, or nil if it is not: the task's necessary work leaves room for it, and a
--- fresh worker has confirmed it. Without the one or the other it is a suspicion: the second value.
function M.explained(row)
  local best = row.data.best
  local s, of = nil, nil
  if row.status == "pass" and best then s, of = over_better(row) end
  if not s or s.median < M.surprising_from then return nil end
  local claim = ("%s over the better of %s"):format(display.speedup(s), of)
  local floor = best.floor and best.floor.seconds
  if not best.first then return nil, claim .. ", and no fresh worker has confirmed it" end
  if not floor then return nil, claim .. ", and what the task must take is not known" end
  return ("%s: it takes %s, PyTorch takes %s, and the task's own work at least %s%s%s"):format(claim, display.time(best.time_s.median),
    of_pytorch(best, s), display.time(floor), best.name and (" (%s)"):format(best.name) or "", left_out(best.floor))
end

--- Why a row that passed should be looked at before it is believed: a list, empty for most.
function M.suspicions(row)
  local best, why = row.data.best, {}
  if row.status ~= "pass" or not best then return why end
  for _, flag in ipairs(best.flags or {}) do
    if M.flags[flag.rule] then why[#why + 1] = ("%s (rule %s)"):format(flag.reason, flag.rule) end
  end
  local _, unexplained = M.explained(row)
  why[#why + 1] = unexplained
  if best.floor and best.time_s and best.time_s.median < (best.floor.seconds or 0) then
    why[#why + 1] = ("%s is less than the %s that the task must take"):format(display.time(best.time_s.median),
      display.time(best.floor.seconds))
  end
  local first = best.first and best.first.time_s
  if first and best.time_s and math.abs(first.median / best.time_s.median - 1) > M.moved then
    why[#why + 1] = ("%s at first, %s when it was confirmed"):format(display.time(first.median),
      display.time(best.time_s.median))
  end
  return why
end

-- ---- groups

local function beats(s) return s and s.median >= M.least and (s.lo or s.median) > 1 end

local function numbers_of(list)
  local g = { n = #list, statuses = {}, faster = {}, geomean = {}, median = {}, curve = {} }
  local passed, suspicious, sol = 0, 0, {}
  local logs, values, wins, known = {}, {}, {}, {}
  for _, kind in ipairs(M.kinds) do logs[kind], values[kind], wins[kind], known[kind] = {}, {}, 0, 0 end
  for _, row in ipairs(list) do
    g.statuses[row.status] = (g.statuses[row.status] or 0) + 1
    local odd = #M.suspicions(row) > 0
    if odd then suspicious = suspicious + 1 end
    if row.status == "pass" then passed = passed + 1 end
    if row.status == "pass" and not odd then
      for _, kind in ipairs(M.kinds) do
        local s = speedup(row, kind)
        if s then
          known[kind] = known[kind] + 1
          values[kind][#values[kind] + 1] = s.median
          logs[kind][#logs[kind] + 1] = math.log(s.median)
          if beats(s) then wins[kind] = wins[kind] + 1 end
        end
      end
      local floor = row.data.best.floor
      if floor and floor.seconds then sol[#sol + 1] = floor.seconds / row.data.best.time_s.median end
    end
  end
  g.pass, g.suspicious = M.wilson(passed, #list), suspicious
  for _, kind in ipairs(M.kinds) do
    if known[kind] > 0 or kind == "eager" or kind == "compile" then
      g.faster[kind] = M.wilson(wins[kind], #list)
      g.geomean[kind], g.median[kind] = geomean(logs[kind]), M.bootstrap(values[kind], median)
      local curve = core.json.array {}
      for i, p in ipairs(M.curve) do
        local k = 0
        for _, x in ipairs(values[kind]) do if x >= p then k = k + 1 end end
        curve[i] = { p = p, share = M.wilson(k, #list) }
      end
      g.curve[kind] = curve
    end
  end
  g.bound = M.bootstrap(sol, median)
  return g
end

--- Numbers of rows (of cawb.suite_rows.read): { groups = { { level = 1 or "all", n, pass, faster =
--- by kind, geomean, median, curve, bound, statuses, suspicious } }, suspicious = { { task, why } }, explained = { { task,
--- why } }: what is far faster and counts, modelled }.
function M.numbers(list)
  local levels, by_level, result = {}, {}, { groups = {}, suspicious = core.json.array {}, explained = core.json.array {}, modelled = false }
  for _, row in ipairs(list) do
    local level = row.level or "none"
    if not by_level[level] then
      by_level[level] = {}
      levels[#levels + 1] = level
    end
    table.insert(by_level[level], row)
    result.modelled = result.modelled or row.data.modelled or false
    local why = M.suspicions(row)
    if #why > 0 then table.insert(result.suspicious, { task = row.task, why = why, run = row.run }) end
    local explained = #why == 0 and M.explained(row)
    if explained then table.insert(result.explained, { task = row.task, why = explained, run = row.run }) end
  end
  table.sort(levels, function(a, b) return tostring(a) < tostring(b) end)
  if #levels > 1 then
    for _, level in ipairs(levels) do
      local g = numbers_of(by_level[level])
      g.level = level
      table.insert(result.groups, g)
    end
  end
  local all = numbers_of(list)
  all.level = #levels == 1 and levels[1] ~= "none" and levels[1] or "all"
  table.insert(result.groups, all)
  return result
end

-- ---- as text

local function percent(w)
  if not w then return "-" end
  return ("%.0f%% [%.0f, %.0f]"):format(100 * w.rate, 100 * w.lo, 100 * w.hi)
end

local function times(b)
  if not b then return "-" end
  if not b.lo then return ("%.2fx"):format(b.value) end
  return ("%.2fx [%.2f, %.2f]"):format(b.value, b.lo, b.hi)
end

local function share(x, form) return x and form:format(x) or "-" end

M.headings = { "", "level", "tasks", "pass", "faster than eager", "faster than compile", "geomean eager",
               "geomean compile", "median compile", "at equal error" }

--- Rows of text for the table in the paper's shape: ours, then, where `beside`, what others published.
function M.rows(numbers, name, beside)
  local rows = {}
  for _, g in ipairs(numbers.groups) do
    rows[#rows + 1] = { name .. (numbers.modelled and " (modelled)" or ""), tostring(g.level),
      tostring(g.n), percent(g.pass),
      percent(g.faster.eager), percent(g.faster.compile), times(g.geomean.eager), times(g.geomean.compile),
      times(g.median.compile), times(g.geomean.equal_error) }
  end
  for _, p in ipairs(beside and published.rows or {}) do
    rows[#rows + 1] = { p.name .. " *", tostring(p.level), "-", share(p.pass and 100 * p.pass, "%.1f%%"),
      share(p.faster_eager and 100 * p.faster_eager, "%.1f%%"),
        share(p.faster_compile and 100 * p.faster_compile, "%.1f%%"),
      share(p.speedup_eager, "%.2fx"), share(p.speedup_compile, "%.2fx"), share(p.median_compile, "%.2fx"), "-" }
  end
  return rows
end

M.of_others = "* reported by its authors, other hardware."
M.footnote = ("Rates: of all tasks, %g%% margin, Wilson's 95%% interval. "):format(100 * stats.margin)
  .. "Means and medians: of the tasks that passed and are not suspicious, bootstrap over tasks, 95%."

--- How often each status came, { pass = 3, ... }, as words, the most frequent first: "3 pass, 1 error".
function M.fates(counts)
  local names = {}
  for name in pairs(counts) do names[#names + 1] = name end
  table.sort(names, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and a < b end)
  for i, name in ipairs(names) do names[i] = ("%d %s"):format(counts[name], name) end
  return table.concat(names, ", ")
end

local function curve_lines(g, width)
  local heads, lines = { "at least" }, {}
  for i, p in ipairs(M.curve) do heads[i + 1] = ("%gx"):format(p) end
  for _, kind in ipairs(M.kinds) do
    if g.curve[kind] then
      local cells = { "over " .. kind:gsub("_", " ") }
      for i, point in ipairs(g.curve[kind]) do cells[i + 1] = ("%.0f%%"):format(100 * point.share.rate) end
      lines[#lines + 1] = cells
    end
  end
  local whole = display.table(heads, lines)
  if not width or #whole[1] <= width then return whole end
  for i, cells in ipairs(lines) do
    for at = 2, #cells do cells[at] = ("%s on %s"):format(heads[at], cells[at]) end
    whole[i + 1] = ("%s: at least %s"):format(cells[1], table.concat(cells, ", ", 2))
  end
  return table.move(whole, 2, #lines + 1, 1, {})
end

--- All of it as lines of text: suspicious ones first, the table, fast_p, what became of the rest. `paths`: what the
--- tasks came from; `width`: of a terminal, nil for any.
function M.lines(list, name, paths, width)
  local n, lines, beside = M.numbers(list), {}, published.belongs(paths or {})
  local function add(text)
    local parts = width and display.wrap(text, width, "  ") or { text }
    table.move(parts, 1, #parts, #lines + 1, lines)
  end
  if #n.suspicious > 0 then
    add "Suspicious: they passed, and are in no average:"
    for _, s in ipairs(n.suspicious) do add(("  %s: %s"):format(s.task, table.concat(s.why, "; "))) end
    add ""
  end
  if #n.explained > 0 then
    add(("Above %gx, explained by the task's necessary work and confirmed by a fresh worker; they count:"):format(M.surprising_from))
    for _, s in ipairs(n.explained) do add(("  %s: %s"):format(s.task, s.why)) end
    add ""
  end
  for _, text in ipairs(display.records(M.headings, M.rows(n, name, beside), width, 1)) do add(text) end
  if beside then add(M.of_others) end
  add(M.footnote)
  if n.modelled then add "Times are modelled, not measured: they rank candidates and are no result." end
  local all = n.groups[#n.groups]
  add ""
  for _, text in ipairs(curve_lines(all, width)) do add(text) end
  if all.bound then
    add(("share of the bound that memory and arithmetic set: median %.0f%% [%.0f, %.0f]"):format(100 * all.bound.value,
      100 * (all.bound.lo or all.bound.value), 100 * (all.bound.hi or all.bound.value)))
  end
  add(("%d task%s: %s"):format(all.n, all.n == 1 and "" or "s", M.fates(all.statuses)))
  local spent = task_rows.spent(list)
  if spent.replies > 0 then
    add(("models: %s%s"):format(display.replies(spent.replies, spent.tokens),
      spent.dollars > 0 and (", $%.2f"):format(spent.dollars) or ""))
  end
  return lines
end

return M
