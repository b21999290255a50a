-- cawb doctor: what this machine offers, where it was found, what is missing and
-- how to get it.

local ceilings = require "cawb.gpu.ceilings"
local command = require "cawb.door.command"
local core = require "cawb.core"
local file = require "cawb.base.file"
local defaults = require "cawb.base.defaults"
local device = require "cawb.gpu.device"
local devices = require "cawb.gpu.devices"
local manifest = require "cawb.gpu.manifest"
local jail_host = require "cawb.judge.worker.jail_host"
local python = require "cawb.base.python"
local display = require "cawb.base.display"
local suggest = require "cawb.base.suggest"

local M = { summary = "what this machine offers and lacks; --try: is the judge sound here? --calibrate its GPU's ceilings; --lock, --against the stack" }

local need = command.need

local units = { copy = "B/s", read = "B/s" }
local times = { launch = true, step = true, call = true }
local function unit_of(ceiling) return units[ceiling] or "FLOP/s" end

local function scale_of(x)
  for _, step in ipairs { { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" } } do
    if x >= step[1] then return step[1], step[2] end
  end
  return 1.0, ""
end

-- "2.96 TB/s", "67 TFLOP/s", "1.9 us".
local function amount(ceiling, x)
  if times[ceiling] then return display.time(x) end
  local scale, prefix = scale_of(x)
  return ("%.3g %s%s"):format(x / scale, prefix, unit_of(ceiling))
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

-- What confines Python candidates, and why not something stronger.
local function check_jail(rows, hello)
  if not hello then return end
  local host, jail = jail_host.start(hello.executable or hello.path, "auto", defaults.deadlines.start, true)
  if not host then
    rows[#rows + 1] = missing("jail", jail)
    return
  end
  host:close()
  local text = jail.parts
  for level, why in pairs(jail["not"] or {}) do text = ("%s; no %s (%s)"):format(text, level, why) end
  rows[#rows + 1] = found("jail", jail.jail, text)
  for _, lack in ipairs(jail.lacks or {}) do rows[#rows + 1] = { "jail", "not held", lack } end
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

-- "driver 580.65.06, at most 1980 MHz, 700 W, ECC on": what its times depend on.
local function settings_of(d)
  local m = manifest.of(d)
  local words = { "driver " .. m.driver }
  if m.sm_clock_max then words[#words + 1] = ("at most %.0f MHz"):format(m.sm_clock_max / 1e6) end
  if m.power_limit then words[#words + 1] = ("%.0f W"):format(m.power_limit) end
  if m.ecc ~= nil then words[#words + 1] = m.ecc and "ECC on" or "ECC off" end
  if m.mig then words[#words + 1] = "MIG on" end
  return table.concat(words, ", ")
end

-- One line of what is known of a device's ceilings, or nil and why nothing is.
local function ceilings_row(d)
  local known, message, never = ceilings.of(d)
  if not known then return nil, not never and message or nil end
  local words = {}
  for _, name in ipairs(ceilings.names) do
    if known[name] then words[#words + 1] = name .. " " .. amount(name, known[name]) end
  end
  return found("ceilings", known.date and "measured " .. known.date or known.source,
    table.concat(words, ", "))
end

local function check_ceilings(rows, d, advice)
  local row, message = ceilings_row(d)
  rows[#rows + 1] = row or found("ceilings", "none", "")
  if message then advice[#advice + 1] = d.info.name .. ": " .. message end
end

-- With `advice`, a list that it may add to, its ceilings too.
local function check_device(rows, name, advice)
  local d <close>, message, why = device.open(name)
  if d then
    rows[#rows + 1] = found("device " .. d.info.name, d.info.model,
      d.info.modelled and "times are modelled" or settings_of(d))
    if advice then check_ceilings(rows, d, advice) end
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

local function check_curl(rows)
  local http, message = core.http.open()
  rows[#rows + 1] = http and found("libcurl", http:version(), "for cawb.ask") or missing("libcurl", message)
end

local function list(title, texts)
  if #texts == 0 then return end
  print(title)
  for _, text in ipairs(texts) do print("* " .. text) end
end

-- Of these it refuses some only: which. Of wgmma it knows all that a Hopper has, but the sparse ones, which have a line of their own.
local partly = { ["wgmma."] = "", ["mma."] = "products with scales for blocks, and m8n8k4 of halves (of mma.; it knows the others)",
  ["mma.sp"] = "products of sparse matrices of whole numbers and of 8-bit floats (of mma.sp; it knows the others)",
  ["wmma."] = "tiles of 4 bits and of 1 bit an element (of wmma.; it knows the others)" }

-- What the simulated device refuses, by name and source line, as one line a family.
local function print_lacks()
  local d <close> = device.open "sim:h100"
  if not d then return end
  local texts = {}
  for _, one in ipairs(d.info.lacks) do
    local text = partly[one.prefixes[1]] or ("%s (%s)"):format(one.family, table.concat(one.prefixes, ", "))
    if text ~= "" then texts[#texts + 1] = text end
  end
  list("\nThe simulated device does not know:", texts)
end

local function diagnose(options)
  local rows, problems, advice = {}, {}, {}
  local function need(ok, message)
    for _, known in ipairs(problems) do if known == message then return end end
    if not ok then problems[#problems + 1] = message end
  end
  rows[1] = found("cawb", core.version, core.program)
  rows[2] = found("library", "", core.home)
  local hello, why = check_python(rows)
  need(hello, why)
  check_jail(rows, hello)
  local site = python.site_packages()
  need(check_library(rows, "NVRTC", "libnvrtc.so", site))
  check_includes(rows, site)
  check_library(rows, "CUPTI", "libcupti.so", site)
  check_library(rows, "cuBLASLt", "libcublasLt.so", site)
  check_library(rows, "cuDNN", "libcudnn.so", site)
  check_curl(rows)
  local gpu, message = check_device(rows, options.device, advice)
  local simulated = options.device:match "^sim:"
  if options.named then need(gpu, message) end
  if not simulated then need(check_device(rows, "sim:h100")) end
  rows[#rows + 1] = found("simulated", table.concat(devices.names(), ", "), "--device sim:NAME, sim:NAME/16, sim:FILE.lua")
  local compiles, because = check_compile(rows)
  need(compiles, because)
  command.print_table({ "what", "found", "where" }, rows)
  list("\nNot ready:", problems)
  if compiles and not hello then print "Without PyTorch cawb exercise works all the same, and cawb exec." end
  if #problems > 0 then return 3 end
  print(gpu and not simulated and ("\nReady. Candidates run on %s."):format(options.device)
    or "\nReady without a GPU: candidates run on sim:h100, their times are modelled.")
  print_lacks()
  list("Worth doing:", advice)
  return 0
end

-- ---- cawb doctor --calibrate

-- "2.96 [2.95, 2.97] TB/s", "1.9 [1.89, 1.92] us".
local function with_interval(one)
  if one.failed then return "failed" end
  if not one.rate then return display.interval(one.time_s) end
  local r, unit = one.rate, unit_of(one.ceiling)
  local scale, prefix = scale_of(r.median)
  return ("%.3g [%.3g, %.3g] %s%s"):format(r.median / scale, r.lo / scale, r.hi / scale,
    prefix, unit)
end

local function described(one)
  local text = one.what
  if one.label and one.label ~= "" then text = text .. ", " .. one.label end
  return one.failed and ("%s: %s"):format(text, one.failed) or text
end

local function show(measured)
  local rows = {}
  for _, one in ipairs(measured.details) do
    local value = one.rate and one.rate.median or one.time_s and one.time_s.median
    local t = one.time_s or {}
    rows[#rows + 1] = { value == measured[one.ceiling] and one.ceiling or "", with_interval(one),
      one.rate and display.time(t.median) or "", tostring(t.samples or ""),
      one.clock_hz and ("%.0f MHz"):format(one.clock_hz / 1e6) or "", described(one) }
  end
  local m = measured.manifest
  print(("%s (%s), driver %s, PyTorch %s"):format(m.model, m.uuid or "no UUID", m.driver, m.torch))
  command.print_table({ "ceiling", "rate or time [95% interval]", "call", "samples", "SM clock", "of" }, rows)
  print(("measured in %.0f s; kept in %s"):format(measured.seconds, ceilings.path(measured)))
end

local function calibrate(options)
  local d <close> = need(device.open(options.device))
  local measured, message, name = require("cawb.door.calibrate").measure(d, function(text)
    io.stderr:write("measuring: ", text, "\n")
  end)
  if name == "unsupported" then command.wrong(message) end
  need(ceilings.keep(need(measured, message, name)))
  if options.json then print(core.json.encode(measured)) else show(measured) end
  return 0
end

-- ---- cawb doctor --lock, --against

-- Whatever fails, the machine is to blame.
local function here(value, message) return need(value, message, "missing"), message end

-- The whole stack, with its Python's part.
local function stack_of(options)
  local d <close> = here(device.open(options.named and options.device or "auto"))
  local host <close>, hello = here(python.start(defaults.deadlines.start))
  here(require("cawb").compile { device = d, source = 'extern "C" __global__ void probe(float *x) { x[0] = 1; }' })
  return manifest.of(d, hello)
end

local function write_lock(path, stack)
  local names, lines = {}, {}
  for name in pairs(stack) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do
    lines[i] = ("  %s: %s"):format(core.json.encode(name), core.json.encode(stack[name]))
  end
  return file.write(path, "{\n" .. table.concat(lines, ",\n") .. "\n}\n")
end

local function read_lock(path)
  local value, message = core.json.decode(command.sound(file.read(path)))
  if type(value) ~= "table" or not value.cawb then
    command.wrong(("%s is no lock that cawb doctor wrote%s"):format(path, message and ": " .. message or ""))
  end
  return value
end

-- 0: the same, or other in what changes no times; 1: another stack.
local function against(path, stack)
  local list, refused = manifest.differences(stack, read_lock(path)), false
  local rows = {}
  for i, d in ipairs(list) do
    rows[i] = { d.times and "refused" or "warning", d.field, d.was, d.now }
    refused = refused or d.times
  end
  if #rows == 0 then
    print("the stack is the one in " .. path)
    return 0
  end
  command.print_table({ "", "", "locked", "now" }, rows)
  print(refused and "Another stack: times of one say nothing of the other."
    or "What changes times is the same.")
  return refused and 1 or 0
end

local function lock(options)
  local stack = stack_of(options)
  if options.against then return against(options.against, stack) end
  here(write_lock(options.lock, stack))
  print(("locked: %s, PyTorch %s, cawb %s (%s), in %s"):format(stack.model, stack.torch, stack.cawb, stack.build, options.lock))
  return 0
end

-- ---- cawb doctor --try

local function try(options)
  local d <close> = need(device.open(options.named and options.device or "auto"))
  local from = core.clock.now()
  local sound = need(require("cawb.door.soundness").try(d, function(one)
    print(("%s  %-8s  %s: %s"):format(one.sound and "ok  " or "FAIL", one.name, one.about, one.ok and one.says
      or ("rejected at %s: %s"):format(one.stage, one.says)))
  end))
  print(("%s: three kernels judged on %s in %.0f s"):format(sound and "sound" or "NOT SOUND: a verdict is not as it has to be", d.info.name,
    core.clock.now() - from))
  return sound and 0 or 1
end

M.usage = "usage: cawb doctor [--device NAME] [--try] [--calibrate [--json]] [--lock FILE] [--against FILE]"

local own = { ["--device"] = "value", ["--try"] = "flag", ["--calibrate"] = "flag", ["--json"] = "flag", ["--lock"] = "value", ["--against"] = "value" }

function M.main(words)
  local options, rest = command.take(words, own)
  if rest[1] then
    command.wrong(("unknown word '%s'%s; %s"):format(rest[1],
      suggest.hint(rest[1], { "--calibrate", "--device", "--json", "--lock", "--against", "--try" }), M.usage))
  end
  if options.json and not options.calibrate then command.wrong("--json goes with --calibrate; " .. M.usage) end
  options.named, options.device = options.device ~= nil, options.device or "cuda:0"
  if options.lock or options.against then return lock(options) end
  if options.try then return try(options) end
  return (options.calibrate and calibrate or diagnose)(options)
end

return M
