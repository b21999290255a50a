-- cawb bench/estimates.lua REPORT.md ESTIMATES.tsv [SHARE]: which tasks of a suite take longer than was estimated for them.
-- REPORT.md is what `cawb report --markdown` printed, with a line "| level/id_name | candidate | verdict | time | ..." for each
-- task; ESTIMATES.tsv has a line of names and then level, id, name, ..., of which `emulated_ms` (products on tensor cores) and
-- `bound` are read. Printed are the tasks that take over SHARE (1.25) times as long, the slowest first, those without a time last.

local display = require "cawb.base.display"

local report, estimates, share = ...
assert(estimates, "usage: cawb bench/estimates.lua REPORT.md ESTIMATES.tsv [SHARE]")
share = tonumber(share or 1.25)

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

local units = { us = 1e-3, ms = 1, s = 1e3 }

-- A time as a report has it, "676 [675, 677] us", in ms.
local function milliseconds(text)
  local number, unit = text:match "^([%d.]+)", text:match "(%a+)%s*$"
  return number and units[unit] and tonumber(number) * units[unit]
end

local rows, within, counted = {}, 0, 0
local expected = read_estimates()
for line in io.lines(report) do
  local id, rest = line:match "^| (%d/%d+)_([^|]*)"
  local e = id and expected[id]
  if e and e.ms then
    local row = cells(line:gsub("^| ", ""), " | ")
    local ms = milliseconds(row[4])
    counted = counted + 1
    if ms and ms <= share * e.ms then within = within + 1
    else rows[#rows + 1] = { ratio = ms and ms / e.ms or 0, id .. " " .. rest:sub(1, 44), row[2], row[3]:sub(1, 40), ms and ("%.3g"):format(ms) or "-",
                             ("%.3g"):format(e.ms), ms and ("%.2f"):format(ms / e.ms) or "-", e.bound } end
  end
end
table.sort(rows, function(a, b)
  if a.ratio ~= b.ratio then return a.ratio > b.ratio end
  return a[1] < b[1]
end)
print(("%d of %d tasks take at most %.2f times their estimate; the others:"):format(within, counted, share))
for _, line in ipairs(display.table({ "task", "candidate", "verdict", "time, ms", "estimate, ms", "ratio", "bound" }, rows)) do print(line) end
