-- The stack's manifest and the device's ceilings on a real GPU. No assertion depends on
-- speed, but nothing may be faster than the clock allows.

local check = dofile "tests/support/check.lua"
local calibrate = require "cawb.door.calibrate"
local cawb = require "cawb"
local ceilings = require "cawb.gpu.ceilings"
local core = require "cawb.core"
local manifest = require "cawb.gpu.manifest"
local cache = require "cawb.base.cache"

local getenv, place = os.getenv, check.folder()
os.getenv = function(name) return name == "XDG_CACHE_HOME" and place or getenv(name) end

local device <close> = assert(cawb.device "cuda:0")
local stack = manifest.of(device)

check.test("the manifest names the GPU, its driver and its settings", function()
  check.matches(stack.uuid, "^GPU%-")
  check.matches(stack.driver, "^%d+%.%d+")
  if not next(device.smi) then return print "nvidia-smi says nothing here" end
  assert(stack.sm_clock_max > 1e8 and stack.memory_clock_max > 1e8, "clocks are in Hz")
  assert(stack.power_limit > 10 and stack.power_limit < 5000, "power is in watts")
  assert(stack.vbios)
  local again <close> = assert(cawb.device "cuda:0")
  check.equal(manifest.key(manifest.of(again)), manifest.key(stack))
end)

local text, status = check.shell(("XDG_CACHE_HOME='%s' '%s' doctor --calibrate --json"):format(place, core.program))
local measured = status == 0 and core.json.decode(text)

check.test("a calibration measures every ceiling", function()
  check.equal(status, 0, text)
  for _, name in ipairs(ceilings.names) do assert(measured[name] and measured[name] > 0, name .. " is missing") end
  for _, one in ipairs(measured.details) do
    local t = one.rate or one.time_s
    assert(not one.failed, one.failed)
    assert(t.lo <= t.median and t.median <= t.hi and t.samples > 0, one.what)
  end
  check.equal(measured.source, "measured")
  assert(measured.manifest.torch and measured.manifest.nvrtc and measured.manifest.cudnn)
  print(("it took %.0f s"):format(measured.seconds))
end)

check.test("nothing is faster than the clock allows", function()
  local most = stack.sm_clock_max or 3e9
  assert(measured.fp32 <= 256 * device.info.sms * most, "float32: 128 lanes an SM, two operations each")
  assert(measured.bf16 >= measured.tf32 and measured.tf32 > measured.fp32)
  for _, one in ipairs(measured.details) do
    assert(not one.clock_hz or one.clock_hz > 1e8 and one.clock_hz <= 1.01 * most, one.what)
  end
  assert(measured.launch > 0 and measured.step < measured.launch)
end)

check.test("what was measured is found again, and by the doctor", function()
  check.equal(assert(ceilings.of(device)).copy, measured.copy)
  local out = check.shell(("XDG_CACHE_HOME='%s' '%s' doctor"):format(place, core.program))
  check.matches(out, "ceilings%s+measured %d%d%d%d%-%d%d%-%d%d%s+copy [%d.]+ TB/s")
end)

check.test("after a change of the stack it is another's", function()
  local key = measured.manifest_key
  measured.manifest.driver = "1.2"
  assert(cache.put("ceilings", "abcd", measured))
  os.remove(cache.path("ceilings", key))
  local known, message = ceilings.of(device)
  check.equal(known, nil)
  check.matches(message, "measured with driver 1.2, this is %d+.*doctor %-%-calibrate")
end)

check.test("each part on its own, with less work", function()
  local small = { sizes = { 1 << 20 }, length = 16, matrix = 256, budget = 0.05, final = 0.05 }
  for _, part in ipairs(calibrate.parts) do
    local list = assert(calibrate.part(device, part[2], small))
    for _, one in ipairs(list) do assert(not one.failed, one.failed) end
  end
end)

os.getenv = getenv
return check.done()
