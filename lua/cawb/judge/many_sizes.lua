-- many_sizes: a task that is judged at several sizes (`judged_at` in its file). A candidate that is right at the
-- file's own sizes is evaluated at the others too; it must be right at all of them, and its speed-up is the geometric
-- mean over them, each at equal error there. Tunables are chosen at each size by itself.

local core = require "cawb.core"
local options = require "cawb.base.options"
local tasks = require "cawb.judge.task.task"

local M = {}

-- Names of the constants that differ, in order.
local function names_of(task)
  local seen, names = {}, {}
  for _, sizes in ipairs(task.judged_at) do
    for name in pairs(sizes) do
      if not seen[name] then names[#names + 1], seen[name] = name, true end
    end
  end
  table.sort(names)
  return names
end

-- The values that these constants have in a task that was loaded, and all of it as text.
local function sizes_of(task, names)
  local sizes, words = {}, {}
  for i, name in ipairs(names) do
    sizes[name] = task.info.constants[name]
    words[i] = ("%s=%s"):format(name, type(sizes[name]) == "table" and core.json.encode(sizes[name]) or tostring(sizes[name]))
  end
  return sizes, table.concat(words, " ")
end

-- The task at one of its other sizes, in a task host of its own, which stays with the task.
local function beside(task, number, all)
  local known = task.beside[number]
  if known and known.host then return known end
  local mine = options.copy(all)
  mine.task = {}
  for name, value in pairs(task.given) do mine.task[name] = value end
  local other, message, name = tasks.open(task.path, { device = task.device, options = mine, sizes = task.judged_at[number],
    seed = task.next_seed "sizes" })
  if not other then return nil, message, name end
  task.beside[number] = other
  return other
end

local function baselines_of(task)
  local times = {}
  for kind, b in pairs(task.baselines) do times[kind] = b.time_s and { time_s = b.time_s } or nil end
  return times
end

local function row_of(task, names, facts)
  local sizes, label = sizes_of(task, names)
  return { sizes = sizes, label = label, ok = facts.ok, stage = facts.stage, reason = facts.reason, time_s = facts.time_s,
           error = facts.error and { worst = facts.error.worst, nrms = facts.error.nrms }, tunables = facts.tunables,
           speedup = facts.speedup, equal_error = facts.equal_error, baselines = baselines_of(task) }
end

-- The geometric mean of one end of an interval over the rows, or nil where one of them is open.
local function mean(list, key)
  local sum = 0
  for _, s in ipairs(list) do
    local value = s[key]
    if not value or value <= 0 then return key == "lo" and value and 0 or nil end
    sum = sum + math.log(value)
  end
  return math.exp(sum / #list)
end

local words = { faster = 1, same = 0, slower = -1 }

-- Verdicts of all sizes as one: that of the mean's interval, undecided where any size is.
local function verdict_of(list, joined)
  for _, s in ipairs(list) do
    if s.verdict and not words[s.verdict] then return "undecided" end
    if not s.verdict then return nil end
  end
  if joined.lo and joined.lo > 1 then return "faster" end
  if joined.hi and joined.hi < 1 then return "slower" end
  local first = list[1].verdict
  for _, s in ipairs(list) do if s.verdict ~= first then return "undecided" end end
  return first
end

local function joined(list)
  local s = { median = mean(list, "median"), lo = mean(list, "lo"), hi = mean(list, "hi") }
  s.verdict = verdict_of(list, s)
  return s
end

local function gathered(rows, of)
  local list = {}
  for i, row in ipairs(rows) do
    list[i] = of(row)
    if not list[i] then return nil end
  end
  return list
end

-- Speed-ups over all sizes in place of those at the file's own.
local function average(facts, rows)
  local speedup = {}
  for kind in pairs(facts.speedup or {}) do
    local list = gathered(rows, function(row) return row.speedup and row.speedup[kind] end)
    speedup[kind] = list and joined(list)
  end
  local equal = gathered(rows, function(row) return row.equal_error end)
  facts.speedup, facts.equal_error = speedup, nil
  if not equal then return end
  local one, over, seen = joined(equal), core.json.array {}, {}
  one.against = equal[1].against
  for _, e in ipairs(equal) do
    if e.against ~= one.against then one.against = "the fastest of each size" end
    for _, kind in ipairs(e.less_accurate or {}) do
      if not seen[kind] then over[#over + 1], seen[kind] = kind, true end
    end
  end
  one.less_accurate = over
  facts.equal_error = one
end

-- What rules said at another size, where they had not said it yet.
local function note_flags(facts, got, label)
  local said = {}
  for _, flag in ipairs(facts.rules and facts.rules.flags or {}) do said[flag.rule .. flag.reason] = true end
  for _, flag in ipairs(facts.rules and got.rules and got.rules.flags or {}) do
    if not said[flag.rule .. flag.reason] then
      flag.reason = ("at %s: %s"):format(label, flag.reason)
      table.insert(facts.rules.flags, flag)
    end
  end
end

local function note_seconds(facts, got)
  for stage, s in pairs(got.seconds or {}) do facts.seconds[stage] = (facts.seconds[stage] or 0) + s end
end

local function fail(facts, got, label)
  facts.ok, facts.stage, facts.rule, facts.log, facts.name = false, got.stage, got.rule, got.log, got.name
  facts.reason = ("at %s: %s"):format(label, got.reason)
end

-- What `evaluate` finds at one size; where the task host there was lost, that is the candidate's failure.
local function at(task, number, all, evaluate, before)
  local other, message, name = beside(task, number, all)
  if not other then return nil, message, name end
  local got
  got, message, name = evaluate(other, before)
  if not got and not other.lost then return nil, message, name end
  return other, got or { ok = false, stage = "host", name = "host", reason = "the task host was lost: " .. other.lost }
end

--- Complete the facts of a candidate that passed at the task's own sizes with those of its others. `evaluate(task, row)` is
--- asked at each: it returns facts, or nil, message, name; `row` is what `facts.judged_at` had of that size before, or nil.
--- Returns the facts, `judged_at` in them: a list of { sizes, label, ok, stage, reason, time_s, error, speedup, equal_error,
--- baselines, tunables }, the task's own first; or nil, message, name.
function M.complete(task, facts, all, evaluate, before)
  if not facts.ok or #(task.judged_at or {}) == 0 then return facts end
  local names = names_of(task)
  local rows = core.json.array { row_of(task, names, facts) }
  facts.judged_at = rows
  for number = 1, #task.judged_at do
    local other, got, name = at(task, number, all, evaluate, before and before[number + 1])
    if not other then return nil, got, name end
    local row = row_of(other, names, got)
    rows[#rows + 1] = row
    note_seconds(facts, got)
    note_flags(facts, got, row.label)
    if not got.ok then
      fail(facts, got, row.label)
      return facts
    end
  end
  average(facts, rows)
  return facts
end

return M
