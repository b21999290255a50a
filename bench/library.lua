-- What gemm{} and conv{} cost beside eager PyTorch, which calls the same libraries: time, error
-- against float64, and the algorithm that was taken. The same is compared with eager PyTorch in
-- TF32 where the call's compute type is that. Prints JSON last.
--   cawb bench/library.lua [DEVICE]

local cawb = require "cawb"
local core = require "cawb.core"
local manifest = require "cawb.gpu.manifest"
local options = require "cawb.base.options"
local python = require "cawb.base.python"

local text = [[
import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def forward(self, a, b, c):
        return %s
def get_inputs():
    return [%s]
def get_init_inputs():
    return []
]]

local function randn(sizes, dtype) return ("torch.randn(%s)%s"):format(sizes, dtype or "") end

-- What it is called; inputs; PyTorch's words; the plan.
local jobs = {
  { "Linear 4096 x 4096 x 4096", { "4096, 4096", "4096, 4096", "4096" }, "F.linear(a, b, c)",
    "gemm{ a = a, b = b, bias = c, c = y, transpose_b = true }" },
  { "the same, tf32", { "4096, 4096", "4096, 4096", "4096" }, "F.linear(a, b, c)",
    "gemm{ a = a, b = b, bias = c, c = y, transpose_b = true, compute = 'tf32' }" },
  { "the same, bfloat16", { "4096, 4096", "4096, 4096", "4096" }, "F.linear(a, b, c)",
    "gemm{ a = a, b = b, bias = c, c = y, transpose_b = true }", ".bfloat16()" },
  { "Linear and ReLU 1024 x 8192 x 8192", { "1024, 8192", "8192, 8192", "8192" },
    "F.relu(F.linear(a, b, c))",
    "gemm{ a = a, b = b, bias = c, c = y, transpose_b = true, epilogue = 'bias_relu' }" },
  { "Linear and GELU (tanh), bfloat16", { "8192, 4096", "4096, 4096", "4096" },
    "F.gelu(F.linear(a, b, c), approximate='tanh')",
    "gemm{ a = a, b = b, bias = c, c = y, transpose_b = true, epilogue = 'bias_gelu_tanh' }", ".bfloat16()" },
  { "bmm 128 x (512 x 1024 x 512)", { "128, 512, 1024", "128, 1024, 512", "512" }, "torch.bmm(a, b) + c",
    "gemm{ a = a, b = b, bias = c, c = y }" },
  { "Conv2d 64 -> 64, 3 x 3, 56 x 56, and ReLU", { "64, 64, 56, 56", "64, 64, 3, 3", "64" },
    "F.relu(F.conv2d(a, b, c, padding=1))",
    "conv{ x = a, w = b, bias = c, y = y, padding = 1, activation = 'relu', workspace = 1 << 30 }" },
  { "the same, tf32", { "64, 64, 56, 56", "64, 64, 3, 3", "64" }, "F.relu(F.conv2d(a, b, c, padding=1))",
    "conv{ x = a, w = b, bias = c, y = y, padding = 1, activation = 'relu', compute = 'tf32', workspace = 1 << 30 }" },
  { "the same, bfloat16", { "64, 64, 56, 56", "64, 64, 3, 3", "64" }, "F.relu(F.conv2d(a, b, c, padding=1))",
    "conv{ x = a, w = b, bias = c, y = y, padding = 1, activation = 'relu', workspace = 1 << 30 }", ".bfloat16()" },
  { "Conv2d 128 -> 256, stride 2, no activation", { "32, 128, 56, 56", "256, 128, 3, 3", "256" },
    "F.conv2d(a, b, c, stride=2, padding=1)",
    "conv{ x = a, w = b, bias = c, y = y, stride = 2, padding = 1, workspace = 1 << 30 }" },
  { "ConvTranspose2d 64 -> 64, stride 2", { "16, 64, 64, 64", "64, 64, 3, 3", "64" },
    "F.conv_transpose2d(a, b, c, stride=2, padding=1, output_padding=1)",
    "conv{ x = a, w = b, bias = c, y = y, transposed = true, stride = 2, padding = 1, output_padding = 1, workspace = 1 << 30 }" },
  { "Conv3d 32 -> 64, 3 x 3 x 3", { "8, 32, 16, 32, 32", "64, 32, 3, 3, 3", "64" },
    "F.conv3d(a, b, c, padding=1)", "conv{ x = a, w = b, bias = c, y = y, padding = 1, workspace = 1 << 30 }" },
}

local function write(job)
  local inputs = {}
  for i, sizes in ipairs(job[2]) do inputs[i] = randn(sizes, job[5]) end
  local path = os.tmpname()
  local f = assert(io.open(path, "w"))
  f:write(text:format(job[3], table.concat(inputs, ", ")))
  f:close()
  return path
end

local function row(...) print(("%-44s %11s %11s %8s %9s %9s  %s"):format(...)) end

-- TF32 is no strict float32, and is to be timed all the same: nothing is refused here.
local all = options.copy(cawb.defaults)
all.tolerance.factor, all.tolerance.far = 1e9, 1.0

local function entry_of(job, task, c)
  local against = job[4]:find "tf32" and "eager_tf32" or "eager"
  local v = assert(cawb.verify(task, c, { trials = 1, options = all }))
  local time = v.ok and assert(cawb.measure(task, c, { against = { against }, options = all })) or v
  if not time.ok then return { name = job[1], failed = time.reason } end
  local ratio = time.speedup and time.speedup[against]        -- modelled ones have not all
  return { name = job[1], time_s = time.time_s, against = against, speedup = ratio, error = v.error,
           chosen = v.steps[1].chosen, workspace = v.steps[1].workspace }
end

local function show(e)
  if e.failed then return row(e.name, "-", "-", "-", "-", "-", e.failed) end
  local median, how = e.time_s.median, e.chosen
  local ratio = e.speedup and e.speedup.median or 0 / 0
  row(e.name, ("%.4g us"):format(median * 1e6), ("%.4g us"):format(median * ratio * 1e6),
    ("%.3fx"):format(ratio), ("%.2g"):format(e.error.nrms or 0 / 0),
    ("%.2g"):format(e.error.eager.nrms or 0 / 0),
    ("%s, algorithm %d, %d bytes%s"):format(how.library, how.algorithm, how.workspace,
      how.fused and "" or ", bias and activation apart"))
end

local device <close> = assert(cawb.device(... or "auto"))
local host, hello = assert(python.start(cawb.defaults.deadlines.start))
local entries = {}
print(("%s%s"):format(device.info.model, device.info.modelled and "; times are modelled" or ""))
row("", "time", "eager", "speed-up", "error", "eager's", "how")
for i, job in ipairs(jobs) do
  local path = write(job)
  local task <close> = assert(cawb.task(path, { device = device, host = { host, hello }, options = all }))
  os.remove(path)
  entries[i] = entry_of(job, task, cawb.candidate { source = "// no kernel\n",
    plan = "local a, b, c, y = inputs[1], inputs[2], inputs[3], outputs[1]\n" .. job[4] })
  show(entries[i])
end
print(core.json.encode { manifest = manifest.of(device, hello), date = os.date "!%Y-%m-%d", jobs = entries })
