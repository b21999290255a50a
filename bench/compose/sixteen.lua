-- Products, convolutions and linear layers of bfloat16: compose's own beside eager PyTorch and torch.compile, which call cuBLAS and cuDNN.
-- Prints a line as soon as a job is done, and JSON last. TFLOP/s count 2 m n k.
--   cawb bench/compose/sixteen.lua [DEVICE] [PATTERN of names] [BASELINES] [TYPE]
-- BASELINES: eager,compile or, which takes about half a minute a job, max-autotune too. TYPE: bfloat16 or float16.

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local display = require "cawb.base.display"
local manifest = require "cawb.gpu.manifest"
local options = require "cawb.base.options"
local python = require "cawb.base.python"

local name, pattern, against, dtype = ...
against, dtype = against or "eager,compile", dtype or "bfloat16"

local text = [[
import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        %s
        self.to(torch.%s)
    def forward(self, x, y=None):
        %s
def get_inputs():
    return [%s]
def get_init_inputs():
    return []
]]

local jobs = {}
local function job(about, flops, forward, shapes, setup)
  jobs[#jobs + 1] = { name = about, flops = flops, forward = forward, shapes = shapes, setup = setup or "pass" }
end

local function square(n) job(("%d^3"):format(n), 2 * n ^ 3, "return x @ y", { { n, n }, { n, n } }) end

local function linear(m, n, k, about, forward)
  job(("Linear %d x %d x %d%s"):format(m, n, k, about), 2 * m * n * k, forward, { { m, k } }, ("self.l = nn.Linear(%d, %d)"):format(k, n))
end

local function conv(images, from, to, size, taps, about, forward)
  job(("conv %dx%d, %d x %d -> %d, %d^2%s"):format(taps, taps, images, from, to, size, about), 2 * taps ^ 2 * images * from * to * size ^ 2, forward,
    { { images, from, size, size } }, ("self.c = nn.Conv2d(%d, %d, %d, padding=%d)"):format(from, to, taps, taps // 2))
end

square(1024)
square(4096)
square(8192)
linear(4096, 4096, 4096, ", GELU", "return F.gelu(self.l(x))")
linear(8192, 4096, 1024, ", ReLU", "return torch.relu(self.l(x))")
linear(512, 1024, 1024, ", SiLU", "return F.silu(self.l(x))")
job("64 x (1024 x 512 x 1024), scaled", 2 * 64 * 1024 * 512 * 1024, "return torch.bmm(x, y) * 0.125", { { 64, 1024, 1024 }, { 64, 1024, 512 } })
job("4096 x 4096 x 4096, second turned", 2 * 4096 ^ 3, "return torch.tanh(x @ y.t())", { { 4096, 4096 }, { 4096, 4096 } })
conv(32, 128, 128, 56, 3, ", ReLU", "return torch.relu(self.c(x))")
conv(64, 256, 256, 28, 3, "", "return self.c(x)")
conv(32, 256, 512, 56, 1, ", ReLU", "return torch.relu(self.c(x))")
job("transposed 4x4 by 2, 32 x 128 -> 64, 32^2", 2 * 16 * 32 * 128 * 64 * 32 ^ 2, "return torch.relu(self.c(x))", { { 32, 128, 32, 32 } },
  "self.c = nn.ConvTranspose2d(128, 64, 4, stride=2, padding=1)")

local all = options.copy(cawb.defaults)
all.measure.budget, all.verify.battery = 0.4, {}
all.deadlines.run, all.deadlines.compile, all.deadlines.measure = 120, 120, 300
if (name or "auto"):find "^sim" then all.scale.mode, all.simulate.blocks = "full", all.scale.blocks end
local device <close> = assert(cawb.device(name or "auto", { simulate = all.simulate, deadlines = all.deadlines }))
local host, hello = assert(python.start(cawb.defaults.deadlines.start))

local function open(j)
  local inputs = {}
  for k, shape in ipairs(j.shapes) do inputs[k] = ("torch.randn(%s, dtype=torch.%s)"):format(table.concat(shape, ", "), dtype) end
  local path = os.tmpname()
  local f <close> = assert(io.open(path, "w"))
  f:write(text:format(j.setup, dtype, j.forward, table.concat(inputs, ", ")))
  f:flush()
  local task, message = cawb.task(path, { device = device, host = { host, hello }, options = all })
  os.remove(path)
  return task, message
end

local kinds = {}
for kind in against:gmatch "[^,]+" do kinds[#kinds + 1] = kind end

local function look(j)
  local task <close>, message = open(j)
  if not task then return { failed = message } end
  local made, why = compose.make(task, { arch = device.info.arch, sms = device.info.sms })
  if not made then return { failed = why } end
  local candidate = cawb.candidate { source = made.source, plan = made.plan }
  local seen = { how = table.concat(compose.table(made), "\n") }
  if not device.info.modelled then
    local v = assert(cawb.verify(task, candidate, { trials = 1, repeats = 0, battery = {}, options = all }))
    if not v.ok then return { failed = v.reason } end
    seen.nrms, seen.strict = v.error.nrms, v.error.eager.nrms
  end
  local m = assert(cawb.measure(task, candidate, { against = kinds, options = all }))
  if not m.ok then return { failed = m.reason } end
  seen.time_s, seen.speedup, seen.baselines = m.time_s, m.speedup, m.baselines
  return seen
end

local function rate(j, s) return s and ("%.0f"):format(j.flops / s / 1e12) or "-" end

local header, results = { "job", "time", "TFLOP/s", "error" }, {}
for _, kind in ipairs(kinds) do header[#header + 1], header[#header + 2] = kind .. "'s TFLOP/s", "speed-up" end

local function row(j, seen)
  if seen.failed then
    local line = { j.name, "failed: " .. tostring(seen.failed):gsub("\n.*", ""):sub(1, 100) }
    for k = 3, #header do line[k] = "" end
    return line
  end
  local line = { j.name, display.interval(seen.time_s), rate(j, seen.time_s.median), seen.nrms and ("%.2g / %.2g"):format(seen.nrms, seen.strict or 0) or "-" }
  for _, kind in ipairs(kinds) do
    local b = seen.baselines[kind]
    line[#line + 1], line[#line + 2] = rate(j, b and b.time_s and b.time_s.median), seen.speedup[kind] and display.speedup(seen.speedup[kind]) or "-"
  end
  return line
end

local rows = {}
for _, j in ipairs(jobs) do
  if j.name:find(pattern or ".") then
    local ok, seen = pcall(look, j)
    seen = ok and seen or { failed = seen }
    rows[#rows + 1], results[#results + 1] = row(j, seen), { job = j.name, flops = j.flops, seen = seen }
    io.stderr:write(table.concat(rows[#rows], "  "), "\n")
  end
end

print(("%s%s, %s, %s"):format(device.info.model, device.info.modelled and "; times are modelled" or "", dtype, os.date "!%Y-%m-%d"))
for _, line in ipairs(display.table(header, rows)) do print(line) end
print(core.json.encode { manifest = manifest.of(device, hello), date = os.date "!%Y-%m-%d", dtype = dtype, results = results })
