-- Attention of float32 and bfloat16: compose's one kernel, the same in three or more (attend = false), and PyTorch's own. On a GPU measured,
-- with errors against float64 beside eager's; on a simulated device modelled, at full sizes by some blocks of each launch.
--   cawb bench/compose/attention.lua [DEVICE] [PATTERN of names] [one]
-- one: beside eager alone, and without the same in three kernels or more, which takes longest.

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local display = require "cawb.base.display"
local options = require "cawb.base.options"
local python = require "cawb.base.python"

local name, pattern, only = ...

local text = [[
import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def forward(self, q, k, v):
        %s
def get_inputs():
    return [torch.randn(%d, %d, %d, %d, dtype=torch.%s) for _ in range(3)]
def get_init_inputs():
    return []
]]

local own = "return F.scaled_dot_product_attention(q, k, v%s)"
local by_hand = "return torch.softmax(q @ k.transpose(-2, -1) * %.6f, -1) @ v"

local sizes = {
  bfloat16 = { { 1, 64, 4096, 64 }, { 4, 16, 2048, 128 }, { 2, 16, 2048, 256 }, { 8, 16, 512, 64 } },
  float32 = { { 8, 16, 512, 64 }, { 1, 64, 4096, 64 }, { 8, 12, 1024, 64 }, { 4, 16, 1024, 128 } },
}

local jobs = {}
for _, dtype in ipairs { "bfloat16", "float32" } do
  for _, s in ipairs(sizes[dtype]) do
    local size = ("%d x %d heads, %d x %d, %s"):format(s[1], s[2], s[3], s[4], dtype)
    local function job(about, forward, part) jobs[#jobs + 1] = { name = size .. about, forward = forward, size = s, part = part, dtype = dtype } end
    job("", own:format "", 1)
    job(", causal", own:format ", is_causal=True", 0.5)
    job(", by hand", by_hand:format(s[4] ^ -0.5), 1)
  end
end

-- Products of both sums, twice each; half of them where half of the scores are hidden.
local function operations(job)
  local b, h, n, d = table.unpack(job.size)
  return 4 * b * h * n * n * d * job.part
end

local all = options.copy(cawb.defaults)
all.measure.budget, all.verify.battery = 0.5, {}
all.deadlines.run, all.deadlines.compile, all.deadlines.measure = 120, 120, 300
if (name or "auto"):find "^sim" then all.scale.mode, all.simulate.blocks = "full", all.scale.blocks end
local device <close> = assert(cawb.device(name or "auto", { simulate = all.simulate, deadlines = all.deadlines }))
local host, hello = assert(python.start(cawb.defaults.deadlines.start))

local function open(job)
  local path = os.tmpname()
  local f = assert(io.open(path, "w"))
  local b, h, n, d = table.unpack(job.size)
  f:write(text:format(job.forward, b, h, n, d, job.dtype))
  f:close()
  local task = assert(cawb.task(path, { device = device, host = { host, hello }, options = all }))
  os.remove(path)
  return task
end

-- What one way of making it shows: { time_s, speedup, error } or { failed }.
local function look(task, attend)
  local made, why = compose.make(task, { arch = device.info.arch, memory = device.info.memory, attend = attend })
  if not made then return { failed = why } end
  local candidate = cawb.candidate { source = made.source, plan = made.plan, options = made.options }
  local v = not device.info.modelled and cawb.verify(task, candidate, { trials = 1, repeats = 0, battery = {}, options = all }) or {}
  if v.ok == false then return { failed = v.reason } end
  local m, message = cawb.measure(task, candidate, { against = only == "one" and { "eager" } or { "eager", "compile" }, options = all })
  if not m then return { failed = message } end
  if not m.ok then return { failed = m.reason } end
  return { time_s = m.time_s, speedup = m.speedup, error = v.error, kernels = #made.kernels }
end

local function cells(job, one, apart)
  local s = one.speedup or {}
  local e = one.error
  return { job.name, one.failed and one.failed:sub(1, 60) or display.interval(one.time_s), one.time_s and ("%.0f"):format(operations(job) / one.time_s.median / 1e12) or "-",
    s.eager and display.speedup(s.eager) or "-", s.compile and display.speedup(s.compile) or "-",
    apart.time_s and display.interval(apart.time_s) or "-", one.time_s and apart.time_s and ("%.2fx"):format(apart.time_s.median / one.time_s.median) or "-",
    e and ("%.2f"):format(e.nrms / e.eager.nrms) or "-", e and ("%.2f"):format(e.worst / e.eager.worst) or "-" }
end

local header = { "attention", "one kernel", "TFLOP/s", "of eager", "of compile", "apart", "of apart", "rms error / eager's", "worst / eager's" }
local rows, results = {}, {}
for _, job in ipairs(jobs) do
  if job.name:find(pattern or ".") then
    local task <close> = open(job)
    local one, apart = look(task), only == "one" and {} or look(task, false)
    rows[#rows + 1] = cells(job, one, apart)
    results[#results + 1] = { job = job.name, one = one, apart = apart }
    io.stderr:write(table.concat(rows[#rows], "  "), "\n")
  end
end
print(("cawb %s, %s, PyTorch %s, %s: %s"):format(core.version, device.info.name, hello.torch or "?", os.date "!%Y-%m-%d", device.info.modelled and "modelled" or "measured"))
for _, line in ipairs(display.table(header, rows)) do print(line) end
print(core.json.encode(results))
