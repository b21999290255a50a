-- cawb doctor: what this machine offers, where it was found, what is missing and
-- how to get it.

local ceilings = require "cawb.ceilings"
local core = require "cawb.core"
local defaults = require("cawb").defaults
local device = require "cawb.device"
local python = require "cawb.python"
local report = require "cawb.report"

local M = { summary = "what was found on this machine, and what is missing; --calibrate measures a GPU" }

--- An amount a second as a person reads it: "2.96 TB/s".
function M.rate(x, unit)
  if not x then return "-" end
  for _, step in ipairs { { 1e15, "P" }, { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" } } do
    if x >= step[1] then return ("%.3g %s%s"):format(x / step[1], step[2], unit) end
  end
  return ("%.3g %s"):format(x, unit)
end

local function found(what, value, where) return { what, value, where or "" } end
local function missing(what, message) return { what, "missing", (message:gsub("\n.*", "")) } end

local function check_python(rows)
  local host, hello = python.start(defaults.deadlines.start)
  if not host then
    rows[#rows + 1] = missing("Python, PyTorch", hello)
    return nil, hello
  end
  host:close()
  rows[#rows + 1] = found("Python", hello.python, hello.path)
  rows[#rows + 1] = found("PyTorch", hello.torch,
    hello.cuda and "built for CUDA " .. hello.cuda or "without CUDA")
  for _, gpu in ipairs(hello.gpus or {}) do
    rows[#rows + 1] = found("PyTorch GPU " .. gpu.index, gpu.name)
  end
  return hello
end

local function check_library(rows, what, name, site_packages)
  local lib, message = core.locate.library(name, site_packages)
  rows[#rows + 1] = lib and found(what, lib.origin, lib.path) or missing(what, message)
  return lib, message
end

local function check_includes(rows, site_packages)
  local includes, message = core.locate.includes(site_packages)
  rows[#rows + 1] = includes and found("CUDA headers", includes[1].origin, includes[1].path)
    or missing("CUDA headers", message)
end

local function check_device(rows, name)
  local d <close>, message, why = device.open(name)
  if d then
    rows[#rows + 1] = found("device " .. d.info.name, d.info.model,
      d.info.modelled and "times are modelled" or "driver " .. d.info.driver)
  else
    rows[#rows + 1] = missing("device " .. name, message)
  end
  return d and true, message, why
end

-- Whether a kernel can be built, from source to machine code.
local function check_compile(rows)
  local d <close> = device.open "sim:h100"
  local built, message = require("cawb").compile {
    source = 'extern "C" __global__ void probe(float *x) { x[0] = 1; }', device = d }
  if built and built.ok then
    rows[#rows + 1] = found("a test build", "works", ("%.0f ms"):format(built.seconds * 1e3))
    return true
  end
  message = built and built.reason or message
  rows[#rows + 1] = missing("a test build", message)
  return nil, message
end

local function check_ceilings(rows, name)
  local d <close> = device.open(name)
  if not d then return end
  local known, message = ceilings.of(d)
  rows[#rows + 1] = known and found("ceilings of " .. name, ("copy %s"):format(M.rate(known.copy, "B/s")),
    "measured " .. tostring(known.when)) or found("ceilings of " .. name, "unknown", message)
end

local function diagnose()
  local rows, problems = {}, {}
  local function need(ok, message) if not ok then problems[#problems + 1] = message end end
  rows[1] = found("cawb", core.version, core.program)
  rows[2] = found("library", "", core.home)
  need(check_python(rows))
  local site = python.site_packages()
  need(check_library(rows, "NVRTC", "libnvrtc.so", site))
  check_includes(rows, site)
  check_library(rows, "CUPTI", "libcupti.so", site)
  local gpu = check_device(rows, "cuda:0")
  if gpu then check_ceilings(rows, "cuda:0") end
  need(check_device(rows, "sim:h100"))
  need(check_compile(rows))
  for _, line in ipairs(report.table({ "what", "found", "where" }, rows)) do print(line) end
  if #problems == 0 then
    print(gpu and "\nReady. Candidates run on cuda:0."
      or "\nReady without a GPU: candidates run on sim:h100, their times are modelled.")
    return 0
  end
  print("\nNot ready:")
  for _, text in ipairs(problems) do print("* " .. text) end
  return 3
end

local function spread(one)
  local t = one.rate or one.time
  return ("+-%.2g%% (%d samples)"):format(50 * (t.hi - t.lo) / t.median, t.samples)
end

local function show(measured)
  local rows = {}
  for _, one in ipairs(measured.details) do
    rows[#rows + 1] = { one.ceiling, one.rate and M.rate(one.rate.median,
      one.ceiling == "copy" and "B/s" or "FLOP/s") or report.time(one.time.median), spread(one),
      one.clock_hz and ("%.0f MHz"):format(one.clock_hz / 1e6) or "", one.what }
  end
  for _, line in ipairs(report.table({ "ceiling", "median", "", "SM clock", "of" }, rows)) do print(line) end
end

local function calibrate(options)
  local d <close>, message, name = device.open(options.device)
  local measured
  if d then
    measured, message, name = ceilings.measure(d, function(text) io.stderr:write(text, " ...\n") end)
  end
  local ok = measured
  if measured then ok, message, name = ceilings.keep(measured) end
  if not ok then
    io.stderr:write("cawb doctor: ", message, "\n")
    return name == "unsupported" and 2 or 3
  end
  if options.json then print(core.json.encode(measured)) else show(measured) end
  return 0
end

local function parse(words)
  local options, i = { device = "cuda:0" }, 1
  while i <= #words do
    if words[i] == "--calibrate" or words[i] == "--json" then options[words[i]:sub(3)] = true
    elseif words[i] == "--device" and words[i + 1] then
      i = i + 1
      options.device = words[i]
    else return nil, ("unknown word '%s'; usage: cawb doctor [--calibrate [--device cuda:N] [--json]]"):format(words[i]) end
    i = i + 1
  end
  return options
end

function M.main(words)
  local options, message = parse(words or {})
  if not options then
    io.stderr:write("cawb doctor: ", message, "\n")
    return 2
  end
  return (options.calibrate and calibrate or diagnose)(options)
end

return M
