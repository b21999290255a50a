-- The stack's manifest, a device's ceilings and the doctor, without a GPU.

local check = dofile "tests/support/check.lua"
local calibrate = require "cawb.door.calibrate"
local cawb = require "cawb"
local ceilings = require "cawb.gpu.ceilings"
local core = require "cawb.core"
local manifest = require "cawb.gpu.manifest"
local cache = require "cawb.base.cache"

local folder = check.folder()
local getenv, place = os.getenv, folder .. "/cache"
os.getenv = function(name) return name == "XDG_CACHE_HOME" and place or getenv(name) end

local uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef"

-- A GPU that nvidia-smi says `smi` of.
local function gpu(info, smi)
  local d = { info = { name = "cuda:0", model = "a card", uuid = uuid, driver = "580.1", modelled = false,
                       sms = 2, memory = 1 << 30, l2 = 1 << 20, arch = "sm_90" },
              smi = { sm_clock_max = 1.98e9, power_limit = 700.0, ecc = true, sm_clock = 3.45e8 } }
  for k, v in pairs(info or {}) do d.info[k] = v end
  for k, v in pairs(smi or {}) do d.smi[k] = v end
  return d
end

-- A program that answers as nvidia-smi does.
local function program(body)
  local path = check.write(("%s/smi-%d"):format(folder, #body), "#!/bin/sh\n" .. body)
  os.execute(("chmod +x '%s'"):format(path))
  return path
end

-- ---- the manifest

local fields = { { "driver_version", "driver" }, { "clocks.max.sm", "sm_clock_max" },
                 { "power.limit", "power_limit" }, { "ecc.mode.current", "ecc" }, { "x", "other" } }

check.test("nvidia-smi's units become Hz, watts and booleans; its excuses become nothing", function()
  local m = manifest.parse("580.1, 1980 MHz, 700.00 W, Enabled, [N/A]", fields)
  check.equal(m.driver, "580.1")
  check.equal(m.sm_clock_max, 1.98e9)
  check.equal(m.power_limit, 700.0)
  check.equal(m.ecc, true)
  check.equal(m.other, nil)
  m = manifest.parse("580.1, [Requested functionality has been deprecated], N/A, Disabled, ", fields)
  check.equal(m.sm_clock_max, nil)
  check.equal(m.power_limit, nil)
  check.equal(m.ecc, false)
  check.equal(next(manifest.parse("Unable to determine the device handle, unknown error", fields)), nil)
end)

check.test("nvidia-smi is asked about this GPU, and again without what it does not know", function()
  local m = manifest.ask(uuid, program([[
case "$*" in
  *vbios_version*) echo 'Field "vbios_version" is not a valid field to query.'; exit 2 ;;
  "-i ]] .. uuid .. [[ --query-gpu="*) echo '1.5, 345 MHz, 2619 MHz, 1980 MHz, 2619 MHz, [N/A], 650.50 W, Enabled, Disabled, Disabled' ;;
esac
]]))
  check.equal(m.driver, "1.5")
  check.equal(m.vbios, nil)
  check.equal(m.memory_clock_max, 2.619e9)
  check.equal(m.power_limit, 650.5)
  check.equal(m.persistence, false)
  check.equal(next(manifest.ask(uuid, program "echo 'NVIDIA-SMI has failed'; exit 9")), nil)
  check.equal(next(manifest.ask(uuid, program "exit 0")), nil)
  check.equal(next(manifest.ask(uuid, "/no/such/program")), nil)
  check.equal(next(manifest.ask("; touch /tmp/x", program "echo 1")), nil)
end)

check.test("the key changes with what changes times, and with nothing else", function()
  local python = { torch = "2.11", cuda = "13.0", cudnn = 91000, python = "3.12" }
  local function key(info, smi, changed)
    return manifest.key(manifest.of(gpu(info, smi), setmetatable(changed or {}, { __index = python })))
  end
  local own = key()
  check.equal(key({ name = "cuda:1" }, { sm_clock = 1e9 }, { python = "3.13" }), own)
  for _, info in ipairs { { uuid = "GPU-0" }, { driver = "581" }, { model = "another" } } do
    assert(key(info) ~= own)
  end
  for _, smi in ipairs { { power_limit = 350.0 }, { ecc = false }, { sm_clock_max = 1.7e9 } } do
    assert(key(nil, smi) ~= own)
  end
  for _, changed in ipairs { { torch = "2.12" }, { cuda = "13.1" }, { cudnn = 91100 } } do
    assert(key(nil, nil, changed) ~= own)
  end
  local stored = core.json.decode(core.json.encode(manifest.of(gpu(), python)))
  check.equal(manifest.key(stored), own, "once stored")
end)

check.test("what changed is said in words", function()
  local was, now = manifest.of(gpu()), manifest.of(gpu({ driver = "581.2" }, { power_limit = 350.0 }))
  now.ecc = nil
  check.equal(table.concat(manifest.changes(now, was), "; "),
    "driver 580.1, this is 581.2; power_limit 700, this is 350; ecc true, this is unknown")
  was.torch = "2.11"
  check.equal(#manifest.changes(now, was), 3)                 -- nothing is known of PyTorch now
end)

-- ---- what is kept

local function measured(device, changes)
  local m = manifest.of(device)
  local c = { copy = 3e12, read = 3e12, fp32 = 6e13, launch = 2e-6, source = "measured",
              date = "2026-01-02", manifest = m, manifest_key = manifest.key(m) }
  for k, v in pairs(changes or {}) do c[k] = v end
  return c
end

check.test("ceilings are kept for a stack, and missed on another", function()
  local known, message = ceilings.of(gpu())
  check.equal(known, nil)
  check.matches(message, "never measured: run cawb doctor %-%-calibrate")
  assert(ceilings.keep(measured(gpu())))
  known = assert(ceilings.of(gpu()))
  check.equal(known.copy, 3e12)
  check.equal(known.source, "measured")
  check.equal(known.manifest_key, manifest.key(manifest.of(gpu())))
  known, message = ceilings.of(gpu { driver = "581.2" })
  check.equal(known, nil)
  check.matches(message, "another stack: measured with driver 580.1, this is 581.2: run cawb doctor %-%-calibrate")
  known, message = ceilings.of(gpu { uuid = "GPU-0" })
  check.equal(known, nil)
  check.matches(message, "never measured")
end)

check.test("of several other stacks the newest is named", function()
  assert(ceilings.keep(measured(gpu { driver = "570" }, { date = "2026-03-04" })))
  local _, message = ceilings.of(gpu { driver = "581.2" })
  check.matches(message, "measured with driver 570, this is 581.2")
end)

check.test("a file that holds no ceilings is named and ignored", function()
  local function with(text, pattern)
    check.write(cache.path("ceilings", measured(gpu()).manifest_key), text)
    local known, message = ceilings.of(gpu())
    check.equal(known, nil)
    check.matches(message, "%x+%.json" .. pattern .. ".*it is ignored: run cawb doctor %-%-calibrate")
  end
  with("{ not json", " is not readable")
  with("", " is not readable")
  with("[]", ": it has no manifest")
  local bad = measured(gpu(), { copy = -1 })
  with(core.json.encode(bad), ": its 'copy' is no positive number")
  bad.copy = "3"
  with(core.json.encode(bad), ": its 'copy' is no positive number")
  bad.copy = nil
  with(core.json.encode(bad), ": it has no 'copy'")
  check.fails("invalid", "'fp32' is no positive number", ceilings.keep(measured(gpu(), { fp32 = 0 / 0 })))
  assert(ceilings.keep(measured(gpu())))                      -- over the bad file
  assert(ceilings.of(gpu()))
end)

check.test("a processor has none, and nothing is measured there", function()
  local cpu <close> = assert(cawb.device "cpu")
  check.fails("unsupported", "a GPU's", ceilings.of(cpu))
  check.fails("unsupported", "a GPU's", calibrate.measure(cpu))
  check.fails("unsupported", "a GPU's", calibrate.known(cpu, nil, error))
  local text, status = check.shell(("'%s' doctor --calibrate --device cpu 2>&1"):format(core.program))
  check.equal(status, 2, text)
  check.matches(text, "a GPU's; name one by %-%-device cuda:0")
end)

check.test("a suite measures them where nobody has, once", function()
  local measure, said, times = calibrate.measure, {}, 0
  function calibrate.measure(d)
    times = times + 1
    return measured(d)
  end
  local one, lock = gpu { uuid = "GPU-1" }, folder .. "/gpu.lock"
  local function say(text) said[#said + 1] = text end
  for _ = 1, 2 do check.equal(assert(calibrate.known(one, lock, say)).copy, 3e12) end
  check.equal(times, 1)
  check.equal(#said, 1)
  check.matches(said[1], "what cuda:0 can do at most")
  assert(assert(core.fs.lock(lock, false))):close()           -- nobody holds it any more
  function calibrate.measure() return nil, "out of memory", "device" end
  check.fails("device", "out of memory", calibrate.known(gpu { uuid = "GPU-2" }, nil, say))
  calibrate.measure = measure
end)

-- ---- the simulated device

local device <close> = assert(cawb.device "sim:h100/12")       -- a GPU of 11 multiprocessors

check.test("a simulated device has its model's", function()
  local c = assert(ceilings.of(device))
  check.equal(c.source, "modelled")
  check.equal(c.copy, device.info.rates.dram)
  for _, name in ipairs(ceilings.names) do assert(c[name] > 0, name) end
  assert(c.bf16 > c.tf32 and c.tf32 > c.fp32)
  assert(c.manifest.modelled and #c.manifest_key == 64)
  check.fails("unsupported", "simulated", calibrate.measure(device))
end)

check.test("of a whole stack the manifest has NVRTC and Python too", function()
  local m = manifest.of(device, { python = "3.12", torch = "2.11" })
  check.matches(m.nvrtc, "^%d+%.%d+$")
  check.equal(m.torch, "2.11")
  check.equal(manifest.of(device).nvrtc, nil)
end)

local small = { sizes = { 1 << 16, 1 << 17 }, length = 2, blocks = 1, matrix = 64 }
local function part(name)
  for _, p in ipairs(calibrate.parts) do
    if p[1] == name then return calibrate.part(device, p[2], small) end
  end
end

check.test("the kernels are right, as far as the simulator knows their instructions", function()
  for _, name in ipairs { "copying", "reading", "arithmetic" } do
    local seen = 0
    for _, one in ipairs(assert(part(name))) do
      if one.failed then check.matches(one.failed, "not known to the simulated device")
      else
        seen = seen + 1
        assert(one.rate.lo <= one.rate.median and one.rate.median <= one.rate.hi and one.rate.median > 0, one.what)
      end
    end
    assert(seen > 0, name)
  end
end)

check.test("a rate is the work over the time", function()
  local one = assert(part "reading")[1]
  check.equal(one.bytes, 1 << 16)
  check.equal(one.rate.median, (1 << 16) / one.time_s.median)
  local fma = assert(part "arithmetic")[1]
  check.equal(fma.rate.median, 2.0 * 8 * 2 * device.info.sms * 256 / fma.time_s.median)
end)

check.test("launches are timed with a kernel that does nothing", function()
  local list = assert(part "launches")
  check.equal(list[1].ceiling, "launch")
  assert(list[1].time_s.median > 0 and list[2].time_s.median > 0)
  check.fails("unsupported", "timed on a GPU only", part "matrix products")
end)

check.test("the best is the ceiling: the highest rate, the shortest time; failures do not count", function()
  local function rate(x) return { median = x, lo = x, hi = x, samples = 1 } end
  local best = calibrate.best_of { { ceiling = "bf16", rate = rate(3), time_s = rate(9) },
    { ceiling = "bf16", rate = rate(5), time_s = rate(8) }, { ceiling = "bf16", failed = "no such instruction" },
    { ceiling = "launch", time_s = rate(2e-6) }, { ceiling = "launch", time_s = rate(1e-6) },
    { ceiling = "tf32", failed = "no such instruction" }, { ceiling = "call" } }
  check.equal(best.bf16, 5)
  check.equal(best.launch, 1e-6)
  check.equal(best.tf32, nil)
  check.equal(best.call, nil)
end)

-- ---- the command

local function doctor(words)
  return check.shell(("XDG_CACHE_HOME='%s' '%s' doctor %s 2>&1"):format(place, core.program, words))
end

check.test("the doctor: what it takes, and what it says of ceilings", function()
  local out, status = doctor "--device sim:h100"
  check.matches(out, "does not know:.*%* warpgroup products of sparse matrices %(wgmma%.mma_async%.sp%)")
  check.equal(status, 0, out)
  check.matches(out, "ceilings%s+modelled%s+copy 3.02 TB/s, read 3.02 TB/s, fp32 67 TFLOP/s, .*launch 4.1 us")
  out, status = doctor "--calibrate --device sim:h100"
  check.equal(status, 2)
  check.matches(out, "sim:h100 is simulated: its ceilings are its model's")
  out, status = doctor "--calibrte"
  check.equal(status, 2)
  check.matches(out, "did you mean '%-%-calibrate'.*usage: cawb doctor")
  out, status = doctor "--json"
  check.equal(status, 2)
  check.matches(out, "%-%-json goes with %-%-calibrate")
  out, status = doctor "--device cuda:99"
  check.equal(status, 3)
  check.matches(out, "Not ready:.*cuda:99")
  out, status = doctor "--calibrate --device cuda:99"
  check.equal(status, 3)
  check.matches(out, "cawb doctor: cuda:99")
end)

os.getenv = getenv
return check.done()
