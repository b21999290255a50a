-- cawb bench/sim/probes.lua MEASURED [MODELLED] [--record FILE] [--only PATTERN]: times of the probes in
-- probes/kernels.lua on two devices, and the ratio of each; kernels that wait rather than work. MEASURED may be a file
-- that --record has written. MODELLED is sim:h100 where nothing is said.

local cawb = require "cawb"
local core = require "cawb.core"
local execute = require "cawb.judge.worker.execute"
local python = require "cawb.base.python"
local stats = require "cawb.base.stats"

local here = arg[0]:match "^(.*)/" or "."
local kernels = dofile(here .. "/probes/kernels.lua")
local numbers = 1 << 22

local options, names = {}, {}
do
  local i = 1
  while arg[i] do
    local key = arg[i]:match "^%-%-(%a+)$"
    if key then options[key], i = assert(arg[i + 1], "a value is due behind " .. arg[i]), i + 2
    else names[#names + 1], i = arg[i], i + 1 end
  end
end
assert(names[1], "usage: cawb bench/sim/probes.lua MEASURED [MODELLED] [--record FILE] [--only PATTERN]")

local function wanted(k) return not options.only or (k.class .. "/" .. k.name):find(options.only) end

local host = { python.start(120) }
if not host[1] then error(host[2], 0) end

-- `keep` gets each time as soon as it is there.
local function time_on(name, keep)
  local times = {}
  local device <close> = assert(cawb.device(name))
  local task <close> = assert(cawb.task(here .. "/model/any.py", { device = device, task = { n = numbers }, seed = "6d6f64656c",
    host = host }))
  for _, k in ipairs(kernels) do
    if wanted(k) then
      local candidate = cawb.candidate { name = k.name, source = k.source, plan = k.plan }
      local ran, message = execute.call(task, candidate, cawb.defaults,
        { op = "time", warmup = 3, samples = 20, budget = 0.1 }, "bench", 60.0)
      local t = { name = k.name, device = device.info.model }
      if ran and ran.ok then t.seconds = stats.summary(ran.samples).median
      else t.failed = ran and ran.reason or message end
      times[k.name] = t
      if keep then keep(t) end
    end
  end
  return times, device.info.model
end

-- What --record wrote: a line for each kernel.
local function read(path)
  local times, model = {}, nil
  for line in assert(io.open(path, "rb")):lines() do
    local entry = core.json.decode(line)
    model, times[entry.name] = model or entry.device, entry
  end
  return times, model
end

local function is_file(path) return path:find "%.jsonl$" ~= nil end

local recording <close> = options.record and assert(io.open(options.record, "wb"))
local measured, gpu = (is_file(names[1]) and read or time_on)(names[1], recording and function(t)
  recording:write(core.json.encode(t), "\n")
  recording:flush()
end)
local modelled, model = time_on(names[2] or "sim:h100")

print(("%-12s %-22s %12s %12s %7s    %s (measured), %s"):format("class", "probe", "measured us", "modelled us", "ratio", gpu, model))
local close, both = 0, 0
for _, k in ipairs(kernels) do
  local a, b = measured[k.name] or {}, modelled[k.name] or {}
  if a.seconds and b.seconds then
    local ratio = b.seconds / a.seconds
    both = both + 1
    if ratio >= 0.5 and ratio <= 2 then close = close + 1 end
    print(("%-12s %-22s %12.1f %12.1f %7.2f%s"):format(k.class, k.name, a.seconds * 1e6, b.seconds * 1e6, ratio,
      (ratio < 0.5 or ratio > 2) and "  more than 2x off" or ""))
  elseif wanted(k) then
    print(("%-12s %-22s not compared: %s"):format(k.class, k.name, a.failed or b.failed or "not in the recording"))
  end
end
print(("%d of %d within 2x"):format(close, both))
