-- cawb bench/estimates.lua STORE|REPORT.md ESTIMATES.tsv [SHARE] [KERNELS]: which tasks of a suite take longer than was estimated
-- for them, and what their profile says. STORE is the folder of a `cawb bench`, with profiles if it ran with --set profile=quick;
-- REPORT.md is what `cawb report --markdown` printed of one, and has times alone. ESTIMATES.tsv has a line of names and then
-- level, id, name, ..., of which `emulated_ms` (products on tensor cores) and `bound` are read. Printed are the tasks that take over
-- SHARE (1.25) times as long, the slowest first, those without a time last; below each one its KERNELS (3) longest kernels with their
-- part of the time, of DRAM's bandwidth and of the cycles in which an instruction was issued.

local core = require "cawb.core"
local display = require "cawb.base.display"
local rows = require "cawb.suite.rows"

local from, estimates, share, most = ...
assert(estimates, "usage: cawb bench/estimates.lua STORE|REPORT.md ESTIMATES.tsv [SHARE] [KERNELS]")
share, most = tonumber(share or 1.25), tonumber(most or 3)

local function cells(line, separator)
  local list = {}
  for cell in (line .. separator):gmatch("(.-)" .. separator) do list[#list + 1] = cell end
  return list
end

-- { [id] = { ms =, bound = } }
local function read_estimates()
  local columns, found = nil, {}
  for line in io.lines(estimates) do
    local row = cells(line, "\t")
    if not columns then
      columns = {}
      for k, name in ipairs(row) do columns[name] = k end
    else
      found[row[columns.level] .. "/" .. row[columns.id]] = { ms = tonumber(row[columns.emulated_ms]), bound = row[columns.bound] }
    end
  end
  return found
end

-- ---- what was measured: { id, name, candidate, verdict, ms, lines of a profile } for each task

local units = { us = 1e-3, ms = 1, s = 1e3 }

-- A time as a report has it, "676 [675, 677] us", in ms.
local function milliseconds(text)
  local number, unit = text:match "^([%d.]+)", text:match "(%a+)%s*$"
  return number and units[unit] and tonumber(number) * units[unit]
end

local function of_report()
  local list = {}
  for line in io.lines(from) do
    local id, rest = line:match "^| (%d/%d+)_([^|]*)"
    if id then
      local row = cells(line:gsub("^| ", ""), " | ")
      list[#list + 1] = { id = id, name = rest, candidate = row[2], verdict = row[3], ms = milliseconds(row[4]) }
    end
  end
  return list
end

local shares = { dram = "dram__throughput.avg.pct_of_peak_sustained_elapsed", issue = "smsp__issue_active.avg.pct_of_peak_sustained_active" }

-- "62% of DRAM", where it was counted.
local function share_of(k, field, word)
  return k[field] and (", %.0f%% of %s"):format(k[field] / k.seconds, word) or ""
end

-- The launches of a profile, those of one name as one, the longest first; and the time of all.
local function by_kernel(profile)
  local list, known, all = {}, {}, 0
  for _, launch in ipairs(profile.kernels or {}) do
    local m, k = launch.metrics, known[launch.kernel]
    if not k then
      k = { name = launch.kernel, seconds = 0, count = 0 }
      known[launch.kernel], list[#list + 1] = k, k
    end
    local s = m.seconds or 0
    k.seconds, k.count, all = k.seconds + s, k.count + 1, all + s
    for field, metric in pairs(shares) do
      if m[metric] then k[field] = (k[field] or 0) + s * m[metric] end
    end
  end
  table.sort(list, function(a, b) return a.seconds > b.seconds end)
  return list, all
end

local function profile_lines(profile)
  if not profile then return { "no profile was stored (--set profile=quick)" } end
  if not profile.ok then return { "no profile: " .. tostring(profile.reason) } end
  local list, all = by_kernel(profile)
  local lines = { ("%d launches, %s in all; %s"):format(#(profile.kernels or {}), display.time(all), profile.roofline and profile.roofline.sentence or "") }
  for k = 1, math.min(most, #list) do
    local x = list[k]
    lines[#lines + 1] = ("%-40s %9s %3.0f%% of the time%s%s%s"):format(x.name, display.time(x.seconds), 100 * x.seconds / all,
      share_of(x, "dram", "DRAM"), share_of(x, "issue", "issue"), x.count > 1 and (", %d launches"):format(x.count) or "")
  end
  return lines
end

local function of_row(store, row)
  local best = row.data.best
  local facts = best and store:query("SELECT facts FROM evaluations WHERE run = ? AND turn = ? AND number = 0", row.run, best.turn)[1]
  local time = best and best.time_s and best.time_s.median
  return { id = ("%d/%d"):format(row.level or 0, row.problem_id or 0), name = row.name:gsub("^%d+_", ""), candidate = best and best.name or "-",
           verdict = row.status, ms = time and 1e3 * time, lines = facts and profile_lines(core.json.decode(facts.facts or "{}").profile) }
end

local function of_store()
  local store <close> = assert(core.store.open(from))
  local list = {}
  for _, suite in ipairs(rows.suites(store)) do
    for _, row in ipairs(rows.read(store, suite.id)) do list[#list + 1] = of_row(store, row) end
  end
  return list
end

-- ---- the table

local expected, behind, within, counted = read_estimates(), {}, 0, 0
for _, t in ipairs(core.fs.kind(from) == "folder" and of_store() or of_report()) do
  local e = expected[t.id]
  if e and e.ms then
    counted = counted + 1
    t.expected, t.bound, t.ratio = e.ms, e.bound, t.ms and t.ms / e.ms or 0
    if t.ms and t.ratio <= share then within = within + 1 else behind[#behind + 1] = t end
  end
end
table.sort(behind, function(a, b)
  if a.ratio ~= b.ratio then return a.ratio > b.ratio end
  return a.id < b.id
end)
local list = {}
for k, t in ipairs(behind) do
  list[k] = { t.id .. " " .. t.name:sub(1, 44), t.candidate, t.verdict:sub(1, 40), t.ms and ("%.3g"):format(t.ms) or "-", ("%.3g"):format(t.expected),
              t.ms and ("%.2f"):format(t.ratio) or "-", t.bound }
end
print(("%d of %d tasks take at most %.2f times their estimate; the others:"):format(within, counted, share))
for k, line in ipairs(display.table({ "task", "candidate", "verdict", "time, ms", "estimate, ms", "ratio", "bound" }, list)) do
  print(line)
  for _, more in ipairs(k > 1 and behind[k - 1].lines or {}) do print("    " .. more) end
end
