-- What compose makes of a suite's tasks at their full size, without a GPU: kernels, bytes of source, seconds to write
-- and to build it. Tasks are sketches, of shapes alone.
--   cawb bench/compose/compose_build.lua SUITE.jsonl [PATTERN of names] [only write it: "write"]
-- A line for each task, and a table by level.

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local display = require "cawb.base.display"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local stats = require "cawb.base.stats"
local suites = require "cawb.suite.suite"

local path, pattern, only = ...
assert(path, "usage: cawb bench/compose/compose_build.lua SUITE.jsonl [PATTERN] [write]")

local settings = options.copy(cawb.defaults)
settings.scale.mode, settings.simulate.blocks, settings.deadlines.compile = "full", 1, 300
local device <close> = assert(cawb.device("sim:h100", { simulate = settings.simulate, deadlines = settings.deadlines }))
local folder = os.tmpname()
os.remove(folder)
local host = { assert(python.start(120)) }

local function timed(f, ...)
  local from = core.clock.now()
  local a, b = f(...)
  return core.clock.now() - from, a, b
end

local function built(made)
  if only == "write" then return nil end
  -- Never from what was built before: a line says when.
  local source = ("// %s %.6f\n%s"):format(os.date "!%Y-%m-%d %H:%M:%S", core.clock.now(), made.source)
  local seconds, b = timed(cawb.compile, { source = source, device = device, options = made.options })
  return seconds, not b.ok and b.reason or b.cached and "(cached)" or ""
end

local function one(entry)
  local all = options.copy(settings)
  local task <close>, message = cawb.task(assert(suites.file(entry, folder)), { device = device, options = all, host = host })
  if not task then return nil, message end
  local wrote, made, why = timed(compose.make, task, { arch = device.info.arch })
  if not made then return nil, why end
  local functions = select(2, made.source:gsub("__global__", ""))
  local _, launches = made.plan:gsub("\n[^\n]-launch%(", "")
  local seconds, said = built(made)
  return { kernels = functions, steps = #made.kernels, launches = launches, bytes = #made.source, wrote = wrote, built = seconds, said = said }
end

local levels, rows = {}, {}
for _, entry in ipairs(assert(suites.load(path))) do
  if entry.key:find(pattern or ".") then
    local row, why = one(entry)
    if row then
      rows[#rows + 1] = row
      row.level = entry.level
      levels[entry.level] = true
      print(("%-44s %4d kernels %5d launches %8d bytes  written in %5.2f s  built in %5.2f s %s"):format(entry.key:sub(1, 44), row.kernels,
        row.launches, row.bytes, row.wrote, row.built or 0, row.said or ""))
    else
      print(("%-44s %s"):format(entry.key:sub(1, 44), tostring(why):sub(1, 200)))
    end
    io.stdout:flush()
  end
end

local function middle_and_most(level, key)
  local values = {}
  for _, row in ipairs(rows) do
    if row.level == level and row[key] then values[#values + 1] = row[key] end
  end
  table.sort(values)
  if #values == 0 then return "-" end
  return ("%.3g / %.3g"):format(stats.quantile(values, 0.5), values[#values])
end

local lines = {}
for level in pairs(levels) do
  local count = 0
  for _, row in ipairs(rows) do count = count + (row.level == level and 1 or 0) end
  lines[#lines + 1] = { tostring(level), tostring(count), middle_and_most(level, "kernels"), middle_and_most(level, "launches"),
    middle_and_most(level, "bytes"), middle_and_most(level, "wrote"), middle_and_most(level, "built") }
end
table.sort(lines, function(a, b) return a[1] < b[1] end)
print()
for _, line in ipairs(display.table({ "level", "tasks", "kernels (median / most)", "launches", "bytes", "seconds to write", "to build" }, lines)) do
  print(line)
end
host[1]:close()
os.execute("rm -rf '" .. folder .. "'")
