-- sanitizer: what is wrong inside a kernel, and at which line. On a GPU the worker runs
-- once more under NVIDIA's compute-sanitizer, ten to a hundred times slower; a simulated
-- device looks for the same mistakes whenever it executes. Both in one form.

local core = require "cawb.core"
local device = require "cawb.gpu.device"
local execute = require "cawb.judge.worker.execute"
local file = require "cawb.base.file"
local options = require "cawb.base.options"
local tasks = require "cawb.judge.task.task"

local M = {}

M.tools = { "memcheck", "racecheck", "initcheck", "synccheck" }
local slower = 20                       -- times as long may anything take

-- Memory that another process wrote counts as never written, wherever it is copied from.
local flags = { initcheck = { "--check-api-memory-access", "no" } }

-- ---- the tool's words

local function triple(text)
  local x, y, z = text:match "%((%d+),(%d+),(%d+)%)"
  return x and { tonumber(x), tonumber(y), tonumber(z) }
end

-- "at kernel(float *)+0x70 in kernel.cu:3", or with the line left out.
local function place(text)
  local name, rest = text:match "at (.-)%+0x%x+(.*)"
  if not name then name, rest = text:match "at 0x%x+ in (.+)", "" end
  if not name then return nil end
  local file, line = rest:match "in (%S-):(%d+)"
  return { kernel = name:match "([%w_]+)%s*<" or name:match "([%w_]+)%s*%(" or name:match "[%w_]+", file = file and file:match "[^/]*$",
           line = tonumber(line) }
end

-- What begins a finding, and its kind.
local kinds = {
  { "^Invalid (%S+) (%a+) of size (%d+)", function(space, how) return ("invalid %s %s"):format(space:gsub("_", ""), how) end },
  { "^Uninitialized (%S+) memory read of size (%d+)", function(space) return ("uninitialized %s read"):format(space:gsub("_", "")) end },
  { "^Barrier error detected%.%s*(.-)%.?$", function(text) return "barrier error: " .. text:lower() end },
  { "^Error: (Race) reported", function() return "race" end },
  { "^Error: Potential (%a+) hazard", function(text) return "race (" .. text .. ")" end },
  { "^Warning: (Race) reported", function() return "race" end },
  { "^(Stack overflow)", function() return "stack overflow" end },
}

local function start(line)
  for _, kind in ipairs(kinds) do
    local a, b, c = line:match(kind[1])
    if a then return kind[2](a, b), tonumber(c or b) end
  end
end

-- Fill in what one more line of a finding says.
local function read_detail(f, line)
  local at = line:find " at " and place(line) or line:find "^at " and place(line)
  if at and not f.kernel then
    f.kernel, f.file, f.line = at.kernel, at.file, at.line
  elseif at then
    f.other = f.other or at
  end
  if line:find "^by thread" then
    f.thread, f.block = triple(line), triple(line:match "block (.*)" or "")
  end
  local address = line:match "^Access at (0x%x+)" or line:match "^Access to (0x%x+)" or line:match "^Address (0x%x+)"
  f.address = f.address or address
  if line:find "is misaligned" then f.kind = f.kind:gsub("^invalid", "misaligned") end
end

-- Threads that make the same mistake at the same place are one finding.
local function add(found, f)
  for _, other in ipairs(found) do
    if other.kind == f.kind and other.kernel == f.kernel and other.file == f.file and other.line == f.line then
      other.times = other.times + 1
      return
    end
  end
  f.times = 1
  found[#found + 1] = f
end

--- The findings in the text that compute-sanitizer prints: { { tool =, kind =, kernel =, file =,
--- line =, block = {x,y,z}, thread = {x,y,z}, address = "0x..", size =, times = how often,
--- text = all of the first one }, ... }.
function M.parse(text, tool)
  local all, found, f = {}, {}, nil
  for raw in (text .. "\n"):gmatch "([^\n]*)\n" do
    local line = raw:match "^=========%s?(.*)$"
    local words = line and line:match "^%s*(.-)%s*$"
    local kind, size = start(words or "")
    if kind then
      f = { tool = tool, kind = kind, size = size, text = words }
      read_detail(f, words)
      all[#all + 1] = f
    elseif f and words and words ~= "" and line:find "^%s" and not words:find "[Bb]acktrace" and not words:find "Frame:" then
      f.text = f.text .. "; " .. words
      read_detail(f, words)
    elseif words == "" or words and not line:find "^%s" then
      f = nil
    end
  end
  for _, one in ipairs(all) do add(found, one) end
  return found
end

-- ---- a simulated device

-- "softmax, kernel.cu line 5: read of 4 bytes, ..., by block (0,0,0) thread (3,0,0)"
local function from_simulator(text, tool)
  local kernel, line, what = text:match "^([%w_.]+), kernel%.cu line (%d+): (.*)$"
  local kind = (what or text):match("^[^,(:]*"):gsub(" of %d+ bytes$", "")
  return { tool = tool, kind = kind, kernel = kernel, file = line and "kernel.cu",
    line = tonumber(line), size = tonumber(text:match "of (%d+) bytes"), block = triple(text:match "block (%(.*)" or ""),
    thread = triple(text:match "thread (%(.*)" or ""), address = text:match "address (0x%x+)", text = text }
end

--- What a simulated device saw while it executed, out of a report; nil where it saw nothing.
function M.simulated(report)
  if not report or (report.races or 0) == 0 then return nil end
  local race = report.race or "the device does not say where"
  local misused = race:match "^misused (%a+): "
  local found = from_simulator(race:match "^%a+ memory: (.*)" or race:match "^misused %a+: (.*)" or race, "simulator")
  found.kind = misused and "misused " .. misused or race:match "^uninitialised memory" and "uninitialised read" or "race"
  found.times, found.text = report.races, race
  return found
end

local function simulate(task, candidate, all)
  local ran, message, name = execute.run(task, candidate, all)
  if not ran then return nil, message, name end
  local found = {}
  if not ran.ok then
    if ran.stage ~= "run" or ran.name ~= "candidate" then return ran end
    found[1] = from_simulator(ran.reason, "simulator")
  else
    found[1] = M.simulated(ran.report)
  end
  return { ok = true, clean = #found == 0, findings = found, tools = { simulator = { findings = #found } } }
end

-- ---- a GPU

local function tool_path()
  local places = { core.fs.which "compute-sanitizer" or "" }
  for _, home in ipairs { os.getenv "CAWB_CUDA_HOME" or "", os.getenv "CUDA_HOME" or "", "/usr/local/cuda" } do
    if home ~= "" then
      places[#places + 1] = home .. "/bin/compute-sanitizer"
      places[#places + 1] = home .. "/compute-sanitizer/compute-sanitizer"
    end
  end
  for _, path in ipairs(places) do
    if path ~= "" and core.fs.kind(path) == "file" then return path end
  end
  return nil, "compute-sanitizer is not installed: install the CUDA toolkit (Debian: cuda-sanitizer-*) "
    .. "and put its bin on PATH, or set CAWB_CUDA_HOME to it", "missing"
end

local function read_and_remove(path)
  local f = io.open(path, "rb")
  local text = f and f:read "a" or ""
  if f then f:close() end
  os.remove(path)
  return text
end

-- The same deadlines, for a process that is watched.
local function longer(deadlines)
  local t = {}
  for key, seconds in pairs(deadlines) do t[key] = seconds * slower end
  return t
end

-- One execution under one tool: { findings =, text =, ok =, reason = of the candidate's end }.
local function watch(task, candidate, all, path, tool)
  local log = os.tmpname()
  local real, patient = task.device, options.copy(all)
  patient.deadlines = longer(all.deadlines)
  local wrap = { path, "--tool", tool, "--log-file", log, "--print-limit", "200", "--show-backtrace", "no" }
  table.move(flags[tool] or {}, 1, #(flags[tool] or {}), #wrap + 1, wrap)
  local watched, message, name = device.open(real.info.name,
    { deadlines = patient.deadlines, cache = real.cache, wrap = wrap })
  if not watched then
    return nil, ("compute-sanitizer: %s"):format(read_and_remove(log) .. message), name
  end
  task.device = watched
  -- what is poisoned is written: initcheck wants outputs and scratch as they were allocated
  local ok, ran, why, kind = pcall(execute.call, task, candidate, patient, { op = "run", bare = tool == "initcheck" },
    "sanitize", patient.deadlines.run)
  task.device = real
  watched:finish(all.deadlines.measure)
  watched:close()
  local text = read_and_remove(log)
  if not ok then error(ran, 0) end
  if not ran then return nil, why, kind end
  return { findings = M.parse(text, tool), text = text, ok = ran.ok, reason = ran.reason, stage = ran.stage }
end

local function check(opts)
  options.known(opts, { tools = true, task = true }, "sanitize", 3)
  local known = {}
  for _, tool in ipairs(M.tools) do known[tool] = true end
  for _, tool in ipairs(opts.tools or {}) do
    if not known[tool] then
      error(("sanitize: no tool '%s' (there are: %s)"):format(tostring(tool), table.concat(M.tools, ", ")), 3)
    end
  end
end

local function watch_all(task, candidate, all, tools)
  local path, message, name = tool_path()
  if not path then return nil, message, name end
  local result = { ok = true, clean = true, findings = {}, tools = {} }
  for _, tool in ipairs(tools or M.tools) do
    local from = core.clock.now()
    local one
    one, message, name = watch(task, candidate, all, path, tool)
    if not one then return nil, message, name end
    if not one.ok and one.stage ~= "run" then return { ok = false, stage = one.stage, reason = one.reason } end
    table.move(one.findings, 1, #one.findings, #result.findings + 1, result.findings)
    result.tools[tool] = { findings = #one.findings, seconds = core.clock.now() - from, text = one.text, reason = one.reason }
    result.clean = result.clean and #one.findings == 0 and one.ok
  end
  return result
end

--- Execute a candidate once on fresh inputs and look for mistakes. `all` are the options of
--- a run. `opts`: { tools = some of
--- "memcheck", "racecheck", "initcheck", "synccheck" (all), task = constants that make the
--- task small }. Returns { ok = true, clean = boolean, findings = see parse, tools = { [name] =
--- { findings = count, seconds =, text =, reason = why the execution failed } } }; a failure to
--- build as data; or nil, message, name ("missing": no tool).
function M.sanitize(task, candidate, all, opts)
  opts = opts or {}
  check(opts)
  local resized = options.copy(all)
  resized.task = options.copy(task.overrides)
  local small <close>, message, name = opts.task and tasks.open(task.path,
    { device = task.device, options = resized, task = opts.task }) or nil
  if opts.task and not small then return nil, message, name end
  local at = small or task
  if at.device.info.modelled then return simulate(at, candidate, all) end
  return watch_all(at, candidate, all, opts.tools)
end

-- ---- a failure explained

--- A finding in words: "invalid global write of 4 bytes at kernel.cu line 3, by thread (0,0,0) of
--- block (1,0,0)".
function M.words(f)
  local text = f.kind
  if f.size then text = ("%s of %d bytes"):format(text, f.size) end
  if f.line then text = ("%s at %s line %d"):format(text, f.file, f.line)
  elseif f.kernel then text = ("%s in %s"):format(text, f.kernel) end
  if f.thread and f.block then
    text = ("%s, by thread (%s) of block (%s)"):format(text, table.concat(f.thread, ","), table.concat(f.block, ","))
  end
  return text
end

local faults = { "ILLEGAL_ADDRESS", "MISALIGNED_ADDRESS", "LAUNCH_FAILED", "ILLEGAL_INSTRUCTION",
                 "HARDWARE_STACK_ERROR", "INVALID_ADDRESS_SPACE", "INVALID_PC", "past the end", "before the start" }

local function is_fault(reason)
  for _, word in ipairs(faults) do
    if tostring(reason):find(word, 1, true) then return true end
  end
  return false
end

local function small_enough(task, memory)
  local bytes = 0
  for _, list in ipairs { task.inputs, task.outputs, task.params } do
    for _, tensor in ipairs(list) do bytes = bytes + tensor.bytes end
  end
  return bytes <= memory
end

--- A candidate's failure with the line that a memcheck pass finds put behind its reason, and
--- its `findings`. The failure as it was where it is no fault of memory, the option `sanitize` says no, the tool is missing, or nothing was found.
function M.explain(task, candidate, failure, all)
  if task.device.info.modelled or not failure or failure.ok ~= false then return failure end
  local how = all.sanitize
  local apt = how.faults and is_fault(failure.reason) and small_enough(task, how.memory)
  local result = apt and watch_all(task, candidate, all, { "memcheck" })
  local first = result and result.ok and result.findings[1]
  if not first then return failure end
  failure.findings = result.findings
  failure.reason = ("%s (compute-sanitizer: %s)"):format(failure.reason, M.words(first))
  return failure
end

-- Only what threads share can race as racecheck sees it.
local function shares(facts)
  local text = facts.built and facts.built.ptx and file.read(facts.built.ptx)
  return text and text:find("%.shared") ~= nil
end

--- Whether this machine has the tool.
function M.installed() return tool_path() ~= nil end

--- What passed on a GPU, as a failure at "verify" where racecheck finds a race in shared memory:
--- outputs of such kernels are right as long as warps happen to be in step. The facts as they were
--- where the option `sanitize.races` says no, nothing is shared, the tensors are larger than
--- `sanitize.memory`, or none was found. Returns nil, message, name where the tool is missing.
function M.races(task, candidate, facts, all)
  local how = all.sanitize
  local asked = how.races and not task.device.info.modelled
  if not (asked and facts.ok and small_enough(task, how.memory) and shares(facts)) then return facts end
  local result, message, name = watch_all(task, candidate, all, { "racecheck" })
  if not result then return nil, message, name end
  local first = result.findings and result.findings[1]
  if not first then return facts end
  facts.ok, facts.stage, facts.findings = false, "verify", result.findings
  facts.reason = ("the outputs are right, but compute-sanitizer found a %s"):format(M.words(first))
  return facts
end

return M
