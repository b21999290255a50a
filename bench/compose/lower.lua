-- lower: how long a lowering takes, by stage, in seconds of one processor (os.clock). Recording is the task host's work, and with `compile`
-- NVRTC builds all kernels of a task: both are given in seconds on the wall. Nothing is executed; tasks have their own sizes.
--   cawb bench/compose/lower.lua SUITE JOURNAL [COMMIT] [PATTERN] [compile]
-- SUITE: as of cawb bench. JOURNAL: a file that gets a line of JSON for each task; a task that it has is left out, so that a run can go on.
-- COMMIT: is written down. PATTERN: of the tasks' keys. Prints a table of the journal, and the refusals by their cause.

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local display = require "cawb.base.display"
local kinds = require "cawb.compose.plan.kinds"
local manifest = require "cawb.gpu.manifest"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local suites = require "cawb.suite.suite"

local path, journal, commit, pattern, build = ...
if not journal then error("usage: cawb bench/compose/lower.lua SUITE JOURNAL [COMMIT] [PATTERN] [compile]", 0) end

local LIMIT = 120       -- seconds of a processor for one lowering

-- Stages, in order, and the functions of the compiler that are each of them.
local stages = {
  { "import", "operators.import", "graph" }, { "rewrite", "rewrite.rewrite", "apply" }, { "split", "split.partial", "begin" },
  { "split", "split.split", "long" }, { "partition", "schedule.partition", "kernels" }, { "fusion", "schedule.fusion", "apply" },
  { "texts", "schedule.repeated", "generate" }, { "merge", "plan.merge", "apply" }, { "plan", "plan.plan", "text" },
}
local columns = { "import", "rewrite", "split", "partition", "fusion", "texts", "merge", "plan", "total" }

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

-- f(...) or an error when it has taken LIMIT seconds.
local function limited(f, ...)
  local last = os.clock() + LIMIT
  debug.sethook(function()
    if os.clock() > last then
      debug.sethook()
      error(("it takes longer than %d s"):format(LIMIT), 0)
    end
  end, "", 1000000)
  local found = table.pack(pcall(f, ...))
  debug.sethook()
  return table.unpack(found, 1, found.n)
end

-- Kernels: all, those of libraries, and those with a text of their own.
local function counts(made)
  local row = { kernels = #made.kernels, libraries = 0, distinct = 0, generated = made.texts, bytes = #made.source }
  for _, kernel in ipairs(made.kernels) do
    if kernel.call then row.libraries = row.libraries + 1 end
    if kernel.made and kernel.made.text then row.distinct = row.distinct + 1 end
  end
  row.kinds, row.before = kinds.counts(made)
  return row
end

local function lowered(task, device, row)
  collectgarbage()
  spent, inside = {}, nil
  local begun = os.clock()
  local ok, made, why = limited(compose.make, task, { arch = device.info.arch })
  spent.total = os.clock() - begun
  row.refused = not ok and "error: " .. tostring(made) or why
  if not ok or not made then return end
  for name, n in pairs(counts(made)) do row[name] = n end
  row.seconds = spent
  if build ~= "compile" then return end
  local reply, message = cawb.compile { source = made.source, device = device, options = made.options }
  row.nvrtc, row.cached = reply and reply.seconds, reply and reply.cached
  if not reply or not reply.ok then row.refused = "NVRTC: " .. tostring(message or reply.reason) end
end

local settings = options.copy(cawb.defaults)
settings.scale.mode, settings.simulate.blocks = "full", 1

local function look(entry, folder, device, host)
  local begun = core.clock.now()
  local row = { task = entry.key, commit = commit }
  local task <close>, message = cawb.task(assert(suites.file(entry, folder)), { device = device, options = settings, host = host })
  row.record, row.refused = core.clock.now() - begun, message
  if task then
    row.operators = #task.graph
    lowered(task, device, row)
  end
  return row
end

local function read()
  local rows, seen = {}, {}
  local f = io.open(journal)
  for line in f and f:lines() or function() end do
    rows[#rows + 1] = core.json.decode(line)
    seen[rows[#rows].task or ""] = true
  end
  if f then f:close() end
  return rows, seen
end

local function write(row)
  local f = assert(io.open(journal, "a"))
  f:write(core.json.encode(row), "\n")
  f:close()
end

-- The processor, how many there are, and how many processes want one.
local function machine()
  local function read_all(name)
    local f <close> = assert(io.open(name))
    return f:read "a"
  end
  local info, n = read_all "/proc/cpuinfo", 0
  for _ in info:gmatch "processor%s*:" do n = n + 1 end
  return ("%d x %s, load %s"):format(n, info:match "model name%s*:%s*([^\n]*)" or "?", read_all "/proc/loadavg":match "%S+")
end

local function run()
  local _, seen = read()
  local device <close> = assert(cawb.device("sim:h100", { simulate = settings.simulate, deadlines = settings.deadlines }))
  local host, hello = assert(python.start(settings.deadlines.start))
  local folder = os.tmpname()
  os.remove(folder)
  write { manifest = manifest.of(device, hello), date = os.date "!%Y-%m-%d", commit = commit, machine = machine() }
  for _, entry in ipairs(assert(suites.load(path))) do
    if entry.key:find(pattern or ".") and not seen[entry.key] then
      local row = look(entry, folder, device, { host, hello })
      write(row)
      io.stderr:write(("%s  %.2f s%s\n"):format(row.task, row.seconds and row.seconds.total or 0, row.refused and "  " .. row.refused or ""))
    end
  end
  host:close()
  os.execute("rm -rf '" .. folder .. "'")
end

-- ---- the table

local function number(x) return x and ("%.2f"):format(x) or "-" end

local function line_of(row)
  local line = { row.task:sub(1, 50), number(row.record) }
  for _, name in ipairs(columns) do line[#line + 1] = number(row.seconds and (row.seconds[name] or 0)) end
  for _, name in ipairs { "operators", "kernels", "generated", "distinct" } do line[#line + 1] = tostring(row[name] or "-") end
  line[#line + 1] = row.bytes and ("%.0f"):format(row.bytes / 1e3) or "-"
  if row.nvrtc then line[#line + 1] = row.cached and "cached" or number(row.nvrtc) end
  return line
end

local function spread(name, list)
  table.sort(list)
  if #list > 0 then print(("%s: median %.2f s, longest %.2f s, of %d"):format(name, list[(#list + 1) // 2], list[#list], #list)) end
end

-- Launches of a call by what they are for, over all tasks, the most frequent first; and of how many tasks.
local function show_kinds(rows)
  local sums, names, all, tasks = {}, {}, 0, 0
  for _, row in ipairs(rows) do
    tasks = tasks + (row.kinds and 1 or 0)
    for name, n in pairs(row.kinds or {}) do
      if not sums[name] then sums[name], names[#names + 1] = { 0, 0 }, name end
      sums[name][1], sums[name][2], all = sums[name][1] + n, sums[name][2] + 1, all + n
    end
  end
  table.sort(names, function(a, b) return sums[a][1] > sums[b][1] or sums[a][1] == sums[b][1] and a < b end)
  print(("launches of a call: %d in %d tasks, %.0f a task"):format(all, tasks, all / math.max(1, tasks)))
  for k, name in ipairs(names) do names[k] = { name, tostring(sums[name][1]), ("%.1f%%"):format(100 * sums[name][1] / all), tostring(sums[name][2]) } end
  for _, line in ipairs(display.table({ "kind", "launches", "of all", "tasks" }, names)) do print(line) end
end

local function show()
  local lines, totals, builds, refused, about = {}, {}, {}, {}, nil
  for _, row in ipairs((read())) do
    if row.manifest then about = row else
      lines[#lines + 1] = line_of(row)
      if row.seconds then totals[#totals + 1] = row.seconds.total end
      if row.nvrtc and not row.cached then builds[#builds + 1] = row.nvrtc end
      if row.refused then refused[#refused + 1] = row.task:sub(1, 50) .. ": " .. row.refused:gsub("^/%S*/", "") end
    end
  end
  local of = about.manifest
  print(("%s, commit %s: compose's lowering for %s, seconds of a processor by stage; record and nvrtc: on the wall. PyTorch %s, NVRTC %s"):format(
    about.date, tostring(about.commit), of.model, of.torch, of.nvrtc))
  print(about.machine)
  local header = { "task", "record", table.unpack(columns) }
  table.move({ "operators", "kernels", "generated", "distinct", "kB", #builds > 0 and "nvrtc" or nil }, 1, 6, #header + 1, header)
  for _, line in ipairs(display.table(header, lines)) do print(line) end
  spread("total", totals)
  spread("nvrtc", builds)
  show_kinds((read()))
  for _, line in ipairs(refused) do print("refused  " .. line) end
end

run()
show()
