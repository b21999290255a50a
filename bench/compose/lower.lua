-- lower: how long a lowering takes, by stage, in seconds of one processor (os.clock); the median of some runs. Recording is the task
-- host's work and is given in seconds on the wall. Prints the refusals by their operator, and JSON last.
--   cawb bench/compose/lower.lua SUITE [PATTERN] [RUNS] [DEVICE]
-- SUITE: as of cawb bench. PATTERN: of the tasks' keys. Tasks have their own sizes, and nothing is executed.

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local display = require "cawb.base.display"
local manifest = require "cawb.gpu.manifest"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local stats = require "cawb.base.stats"
local suites = require "cawb.suite.suite"

local path, pattern, runs, device_name = ...
if not path then error("usage: cawb bench/compose/lower.lua SUITE [PATTERN] [RUNS] [DEVICE]", 0) end
runs = math.tointeger(tonumber(runs or 3))

-- Stages, in order, and the functions of the compiler that are each of them.
local stages = {
  { "import", "operators.import", "graph" }, { "rewrite", "rewrite.rewrite", "apply" }, { "split", "split.partial", "begin" },
  { "split", "split.split", "long" }, { "partition", "schedule.partition", "kernels" }, { "join", "schedule.wave", "join" },
  { "join", "schedule.epilogue", "join" }, { "join", "schedule.cells", "join" }, { "join", "schedule.packing", "absorb" },
  { "join", "schedule.attention", "join" }, { "join", "schedule.concatenation", "join" },
  { "generate", "schedule.generators", "generate" }, { "merge", "plan.merge", "apply" }, { "plan", "plan.plan", "text" },
}
local columns = { "import", "rewrite", "split", "partition", "join", "generate", "merge", "plan", "total" }

-- Each stage adds to `spent`. A stage within another counts for the outer one alone.
local spent, inside = {}, nil
for _, stage in ipairs(stages) do
  local name, module = stage[1], require("cawb.compose." .. stage[2])
  local f = module[stage[3]]
  module[stage[3]] = function(...)
    if inside then return f(...) end
    inside = name
    local begun = os.clock()
    local made = table.pack(f(...))
    inside, spent[name] = nil, (spent[name] or 0) + os.clock() - begun
    return table.unpack(made, 1, made.n)
  end
end

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

local function launches(made)
  local n = 0
  for _, kernel in ipairs(made.kernels) do
    n = n + (kernel.call and 1 or 0)
    for _, launch in ipairs(kernel.made and kernel.made.launches or {}) do n = n + (launch.kernel and not launch.prepare and 1 or 0) end
  end
  return n
end

-- Some lowerings of a task: seconds by stage, and what was made.
local function lowered(task, arch)
  local lists, made, why = {}, nil, nil
  for _, name in ipairs(columns) do lists[name] = {} end
  for run = 1, runs do
    spent, inside = {}, nil
    collectgarbage()
    local begun = os.clock()
    made, why = compose.make(task, { arch = arch })
    spent.total = os.clock() - begun
    for _, name in ipairs(columns) do lists[name][run] = spent[name] or 0 end
    if not made then break end
  end
  local row = {}
  for _, name in ipairs(columns) do row[name] = median(lists[name]) end
  return row, made, why
end

local settings = options.copy(cawb.defaults)
settings.scale.mode, settings.simulate.blocks = "full", 1
local device <close> = assert(cawb.device(device_name or "sim:h100", { simulate = settings.simulate, deadlines = settings.deadlines }))
local host, hello = assert(python.start(cawb.defaults.deadlines.start))
local folder = os.tmpname()
os.remove(folder)

local header = { "task", "record", table.unpack(columns) }
table.move({ "operators", "launches", "kB" }, 1, 3, #header + 1, header)
local results, refused = {}, {}

local function look(entry)
  local begun = core.clock.now()
  local task <close>, message = cawb.task(assert(suites.file(entry, folder)), { device = device, options = settings, host = { host, hello } })
  if not task then return { task = entry.key, refused = message } end
  local record, operators = core.clock.now() - begun, #task.graph
  local ok, row, made, why = pcall(lowered, task, device.info.arch)
  if not ok then row, why = {}, "error: " .. tostring(row) end
  row.task, row.record, row.operators, row.refused = entry.key, record, operators, why
  if made then row.launches, row.bytes = launches(made), #made.source end
  return row
end

local function line_of(row)
  local line = { row.task:sub(1, 50) }
  for k = 2, 2 + #columns do line[k] = row[header[k]] and ("%.2f"):format(row[header[k]]) or "-" end
  table.move({ tostring(row.operators or "-"), tostring(row.launches or "-"), row.bytes and ("%.0f"):format(row.bytes / 1e3) or "-" }, 1, 3, #line + 1, line)
  return line
end

local lines = {}
for _, entry in ipairs(assert(suites.load(path))) do
  if entry.key:find(pattern or ".") then
    local row = look(entry)
    results[#results + 1], lines[#lines + 1] = row, line_of(row)
    io.stderr:write(table.concat(lines[#lines], "  "), row.refused and "  " .. row.refused or "", "\n")
    if row.refused then
      local word = row.refused:match "^([%w_.]+)%(" or row.refused:sub(1, 70)
      refused[word] = (refused[word] or 0) + 1
    end
  end
end
host:close()
os.execute("rm -rf '" .. folder .. "'")

local totals = {}
for _, row in ipairs(results) do totals[#totals + 1] = row.launches and row.total or nil end
print(("lowering for %s, in seconds of a processor, the median of %d, %s"):format(device.info.model, runs, os.date "!%Y-%m-%d"))
for _, line in ipairs(display.table(header, lines)) do print(line) end
if #totals > 0 then
  table.sort(totals)
  print(("%d of %d lowered; total: median %.2f s, longest %.2f s"):format(#totals, #results, median(totals), totals[#totals]))
end
for word, n in pairs(refused) do print(("refused, %d: %s"):format(n, word)) end
print(core.json.encode { manifest = manifest.of(device, hello), date = os.date "!%Y-%m-%d", results = results })
