-- The rows that `compose` is published with, from stores of suites (cawb bench): one store a row, the same tasks under other options.
--   cawb bench/compose/compose_rows.lua NAME=STORE[,STORE]...
-- Of several stores behind one name each gives the tasks that none before it has.
-- for instance of
--   default=A     cawb bench tune dev.jsonl --set settings.seconds=10 --out A
--   plain=B       the same with --set compose.tensor_cores=false
--   paper=C       the same with --config configs/tolerance-paper.lua --set measure.against=eager,compile,eager_tf32,compile_tf32
--   autotune=D    the same with --set measure.against=eager,compile,max_autotune
-- For each, in all and by level: tasks; right ones; those at least 5% ahead of all baselines in strict float32 that were timed (of those
-- with TF32 where only these were), each by an interval that excludes a tie; geometric means, with 95% intervals over tasks, of the speed-up at equal error, over the better of
-- eager and compile, over the better of these with TF32, and over max_autotune. What is suspicious is right, and in nothing else,
-- and what is above 10x, confirmed and explained (suite/report.lua) counts in full.

local core = require "cawb.core"
local page = require "cawb.suite.page"
local report = require "cawb.suite.report"
local rows = require "cawb.suite.rows"

local function mean(list)
  local sum = 0.0
  for _, x in ipairs(list) do sum = sum + x end
  return sum / #list
end

-- A speed-up over a baseline: what was measured in turns, else the ratio of two medians; nil where it was not timed.
local function over(row, kind)
  local best = row.data.best
  local s = best.speedup and best.speedup[kind]
  if s then return s end
  local b = (row.data.baselines or {})[kind]
  if not b or not b.median or b.failed then return nil end
  local ratio = b.median / best.time_s.median
  return { median = ratio, lo = ratio, hi = ratio }
end

local function lesser(a, b)
  if not (a and b) then return a or b end
  return a.median < b.median and a or b
end

local columns = {
  { "at equal error", function(row) return row.data.best.equal_error end },
  { "over the better of eager and compile", function(row) return lesser(over(row, "eager"), over(row, "compile")) end },
  { "of these with TF32", function(row) return lesser(over(row, "eager_tf32"), over(row, "compile_tf32")) end },
  { "over max_autotune", function(row) return over(row, "max_autotune") end },
}

local function beats(s) return not s or s.median >= report.least and (s.lo or s.median) > 1 end

-- Whether a row is ahead of every baseline in strict float32 that it was timed against; where there was none, of those with TF32.
local function is_ahead(row)
  for _, kinds in ipairs { { "eager", "compile", "max_autotune" }, { "eager_tf32", "compile_tf32" } } do
    local timed, ahead = false, true
    for _, kind in ipairs(kinds) do
      timed, ahead = timed or over(row, kind) ~= nil, ahead and beats(over(row, kind))
    end
    if timed then return ahead end
  end
  return false
end

local function times(logs)
  local b = report.bootstrap(logs, mean)
  if not b then return "-" end
  if not b.lo then return ("%.2fx of 1"):format(math.exp(b.value)) end
  return ("%.2fx [%.2f, %.2f] of %d"):format(math.exp(b.value), math.exp(b.lo), math.exp(b.hi), b.n)
end

local function cells(name, level, list)
  local right, ahead, odd, logs = 0, 0, 0, {}
  for k in ipairs(columns) do logs[k] = {} end
  for _, row in ipairs(list) do
    local suspicious = #report.suspicions(row) > 0
    if row.status == "pass" then right = right + 1 end
    if row.status == "pass" and suspicious then odd = odd + 1 end
    if row.status == "pass" and not suspicious and row.data.best and row.data.best.time_s then
      if is_ahead(row) then ahead = ahead + 1 end
      for k, column in ipairs(columns) do
        local s = column[2](row)
        if s then table.insert(logs[k], math.log(s.median)) end
      end
    end
  end
  local line = { name, level, tostring(#list), tostring(right), tostring(odd), tostring(ahead) }
  for k in ipairs(columns) do line[#line + 1] = times(logs[k]) end
  return line
end

local function levels_of(list)
  local by, names = {}, {}
  for _, row in ipairs(list) do
    local level = tostring(row.level or "none")
    if not by[level] then by[level], names[#names + 1] = {}, level end
    table.insert(by[level], row)
  end
  table.sort(names)
  return by, names
end

-- The last suite of a store: its rows, and what it ran on.
local function suite_of(path)
  local store <close> = assert(core.store.open(path))
  local suite = assert(rows.suites(store)[1], path .. ": there is no suite in it")
  local modelled, list = false, rows.read(store, suite.id)
  for _, row in ipairs(list) do modelled = modelled or row.data.modelled end
  return list, ("%s on %s%s"):format(tostring(suite.about.strategy):match "([^/]+)%.lua$" or suite.about.strategy,
    table.concat(rows.sessions(store, suite.id).devices, ", "), modelled and ", modelled" or "")
end

-- The same of several stores, separated by commas: each gives the tasks that none before it has.
local function suites_of(paths)
  local all, about, seen = {}, {}, {}
  for path in paths:gmatch "[^,]+" do
    local list, what = suite_of(path)
    local count = #all
    for _, row in ipairs(list) do
      if not seen[row.task] then all[#all + 1] = row end
      seen[row.task] = true
    end
    about[#about + 1] = ("%s (%d tasks)"):format(what, #all - count)
  end
  return all, table.concat(about, "; ")
end

local heads = { "", "level", "tasks", "right", "of these suspicious", "5% ahead of all" }
for _, column in ipairs(columns) do heads[#heads + 1] = column[1] end
local lines, about = {}, {}
assert(#{ ... } > 0, "usage: cawb bench/compose/compose_rows.lua NAME=STORE[,STORE]...")
for _, word in ipairs { ... } do
  local name, path = word:match "^([^=]+)=(.+)$"
  local list, what = suites_of(assert(path, word .. ": NAME=STORE is expected"))
  about[#about + 1] = ("%s: %s"):format(name, what)
  local by, levels = levels_of(list)
  for _, level in ipairs(#levels > 1 and levels or {}) do lines[#lines + 1] = cells(name, level, by[level]) end
  lines[#lines + 1] = cells(name, "all", list)
end
for _, text in ipairs(about) do print(text) end
print ""
print(page.markdown_table(heads, lines))
