-- library: what gemm{} and conv{} compute, held against PyTorch. Both the simulated and the
-- real device run this:
--   local check = dofile "tests/support/library.lua" (device)
--   return check.done()

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local python = require "cawb.base.python"

local text = [[
import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        %s
    def forward(self, %s):
        return %s
def get_inputs():
    return [%s]
def get_init_inputs():
    return []
]]

-- inputs: Python, one each; value: Python, of a, b, c, d; plan: Lua, of the same names and y.
-- `nrms`: the error that is expected where it is no float32's: { least, most }, not judged.
local cases = {
  -- a product, as matrices lie and transposed; sizes that divide by nothing
  { "a b", { "torch.randn(67, 129)", "torch.randn(129, 45)" }, "a @ b", "gemm{ a = a, b = b, c = y }" },
  { "a' b", { "torch.randn(129, 67)", "torch.randn(129, 45)" }, "a.t() @ b",
    "gemm{ a = a, b = b, c = y, transpose_a = true }" },
  { "a b'", { "torch.randn(67, 129)", "torch.randn(45, 129)" }, "a @ b.t()",
    "gemm{ a = a, b = b, c = y, transpose_b = true }" },
  { "a' b'", { "torch.randn(129, 67)", "torch.randn(45, 129)" }, "a.t() @ b.t()",
    "gemm{ a = a, b = b, c = y, transpose_a = true, transpose_b = true }" },
  { "one row", { "torch.randn(1, 300)", "torch.randn(300, 70)" }, "a @ b", "gemm{ a = a, b = b, c = y }" },
  { "one column", { "torch.randn(70, 300)", "torch.randn(300, 1)" }, "a @ b", "gemm{ a = a, b = b, c = y }" },
  { "one number", { "torch.randn(1, 1)", "torch.randn(1, 1)" }, "a @ b", "gemm{ a = a, b = b, c = y }" },
  { "no workspace", { "torch.randn(64, 2048)", "torch.randn(2048, 64)" }, "a @ b",
    "gemm{ a = a, b = b, c = y, workspace = 0 }" },
  -- batches
  { "a batch", { "torch.randn(5, 33, 66)", "torch.randn(5, 66, 18)" }, "torch.bmm(a, b)",
    "gemm{ a = a, b = b, c = y }" },
  { "a batch, transposed", { "torch.randn(5, 66, 33)", "torch.randn(5, 18, 66)" },
    "torch.bmm(a.transpose(1, 2), b.transpose(1, 2))",
    "gemm{ a = a, b = b, c = y, transpose_a = true, transpose_b = true }" },
  { "two dimensions of batch", { "torch.randn(2, 3, 20, 31)", "torch.randn(2, 3, 31, 9)" }, "a @ b",
    "gemm{ a = a, b = b, c = y }" },
  { "a batch times one matrix", { "torch.randn(4, 7, 40)", "torch.randn(24, 40)" }, "F.linear(a, b)",
    "gemm{ a = a, b = b, c = y, transpose_b = true }" },
  { "one matrix times a batch", { "torch.randn(7, 40)", "torch.randn(6, 40, 24)" }, "a @ b",
    "gemm{ a = a, b = b, c = y }" },
  -- attention's scores: heads that lie side by side, seen through views
  { "heads in views", { "torch.randn(1, 50, 4 * 16)", "torch.randn(1, 50, 4 * 16)" },
    "a.view(1, 50, 4, 16).transpose(1, 2) @ b.view(1, 50, 4, 16).permute(0, 2, 3, 1)",
    [[local function heads(t) return view(t, { shape = { 4, 50, 16 }, strides = { 16, 64, 1 } }) end
      gemm{ a = heads(a), b = heads(b), c = view(y, { shape = { 4, 50, 50 } }), transpose_b = true }]] },
  { "parts of one tensor", { "torch.randn(40, 3 * 32)" }, "a[:, :32] @ a[:, 32:64].t()",
    [[local function part(n) return view(a, { shape = { 40, 32 }, strides = { 96, 1 }, offset = 32 * n }) end
      gemm{ a = part(0), b = part(1), c = y, transpose_b = true }]] },
  -- alpha, beta, epilogues
  { "alpha", { "torch.randn(40, 64)", "torch.randn(64, 24)" }, "0.125 * (a @ b)",
    "gemm{ a = a, b = b, c = y, alpha = 0.125 }" },
  { "beta adds to what is there",
    { "torch.randn(40, 64)", "torch.randn(64, 24)", "torch.randn(40, 64)" }, "a @ b + 2 * (c @ b)",
    "gemm{ a = a, b = b, c = y } gemm{ a = c, b = b, c = y, alpha = 2, beta = 1 }" },
  { "bias", { "torch.randn(40, 64)", "torch.randn(24, 64)", "torch.randn(24)" }, "F.linear(a, b, c)",
    "gemm{ a = a, b = b, bias = c, c = y, transpose_b = true }" },
  { "ReLU", { "torch.randn(40, 64)", "torch.randn(64, 24)" }, "F.relu(a @ b)",
    "gemm{ a = a, b = b, c = y, epilogue = 'relu' }" },
  { "bias and ReLU", { "torch.randn(40, 64)", "torch.randn(24, 64)", "torch.randn(24)" },
    "F.relu(F.linear(a, b, c))",
    "gemm{ a = a, b = b, bias = c, c = y, transpose_b = true, epilogue = 'bias_relu' }" },
  { "GELU's approximation", { "torch.randn(40, 64)", "torch.randn(64, 24)" },
    "F.gelu(a @ b, approximate='tanh')", "gemm{ a = a, b = b, c = y, epilogue = 'gelu_tanh' }" },
  { "bias and GELU's approximation",
    { "torch.randn(40, 64)", "torch.randn(24, 64)", "torch.randn(24)" },
    "F.gelu(F.linear(a, b, c), approximate='tanh')",
    "gemm{ a = a, b = b, bias = c, c = y, transpose_b = true, epilogue = 'bias_gelu_tanh' }" },
  { "bias in a batch",
    { "torch.randn(5, 33, 64)", "torch.randn(5, 64, 24)", "torch.randn(24)" }, "torch.bmm(a, b) + c",
    "gemm{ a = a, b = b, bias = c, c = y }" },
  -- types
  { "float16", { "torch.randn(67, 128).half()", "torch.randn(128, 48).half()" }, "a @ b",
    "gemm{ a = a, b = b, c = y }" },
  { "bfloat16", { "torch.randn(67, 128).bfloat16()", "torch.randn(128, 48).bfloat16()" }, "a @ b",
    "gemm{ a = a, b = b, c = y, compute = 'bf16' }" },
  { "bfloat16, odd sizes", { "torch.randn(67, 129).bfloat16()", "torch.randn(129, 45).bfloat16()" },
    "a @ b", "gemm{ a = a, b = b, c = y }" },
  { "float16 into float32", { "torch.randn(64, 128).half()", "torch.randn(128, 48).half()" },
    "a.float() @ b.float()", "gemm{ a = a, b = b, c = y }" },
  { "float16 with bias and ReLU",
    { "torch.randn(64, 128).half()", "torch.randn(48, 128).half()", "torch.randn(48).half()" },
    "F.relu(F.linear(a, b, c))",
    "gemm{ a = a, b = b, bias = c, c = y, transpose_b = true, epilogue = 'bias_relu' }" },
  { "compute tf32", { "torch.randn(128, 256)", "torch.randn(256, 64)" }, "a @ b",
    "gemm{ a = a, b = b, c = y, compute = 'tf32' }", nrms = { 5e-5, 2e-3 } },
  { "compute bf16", { "torch.randn(128, 256)", "torch.randn(256, 64)" }, "a @ b",
    "gemm{ a = a, b = b, c = y, compute = 'bf16' }", nrms = { 5e-5, 1e-2 } },   -- or tf32
  { "compute fp16", { "torch.randn(128, 256)", "torch.randn(256, 64)" }, "a @ b",
    "gemm{ a = a, b = b, c = y, compute = 'fp16' }", nrms = { 5e-5, 2e-3 } },
  -- a weight folded once, before the calls
  { "prepare", { "torch.randn(16, 32)" }, "a @ (self.v @ self.w)",
    [[local both = scratch{ shape = { 32, 24 } }
      prepare(function(p) gemm{ a = p.v, b = p.w, c = both } end)
      gemm{ a = a, b = both, c = y }]],
    init = "self.v = nn.Parameter(torch.randn(32, 48)); self.w = nn.Parameter(torch.randn(48, 24))" },

  -- convolutions: one to three dimensions, and what may be said of them
  { "conv 1D", { "torch.randn(3, 8, 61)", "torch.randn(12, 8, 5)" }, "F.conv1d(a, b, stride=2, padding=3)",
    "conv{ x = a, w = b, y = y, stride = 2, padding = 3 }" },
  { "conv 2D", { "torch.randn(2, 8, 19, 23)", "torch.randn(12, 8, 3, 5)" },
    "F.conv2d(a, b, stride=(2, 1), padding=(1, 2))",
    "conv{ x = a, w = b, y = y, stride = { 2, 1 }, padding = { 1, 2 } }" },
  { "conv 3D", { "torch.randn(2, 4, 7, 9, 11)", "torch.randn(6, 4, 3, 3, 3)" },
    "F.conv3d(a, b, padding=1)", "conv{ x = a, w = b, y = y, padding = 1 }" },
  { "conv of one point", { "torch.randn(2, 16, 9, 9)", "torch.randn(24, 16, 1, 1)" }, "F.conv2d(a, b)",
    "conv{ x = a, w = b, y = y }" },
  { "dilation", { "torch.randn(2, 8, 20, 20)", "torch.randn(8, 8, 3, 3)" },
    "F.conv2d(a, b, dilation=2, padding=2)", "conv{ x = a, w = b, y = y, dilation = 2, padding = 2 }" },
  { "groups", { "torch.randn(2, 12, 15, 15)", "torch.randn(8, 3, 3, 3)" },
    "F.conv2d(a, b, padding=1, groups=4)", "conv{ x = a, w = b, y = y, padding = 1, groups = 4 }" },
  { "depthwise", { "torch.randn(2, 16, 15, 15)", "torch.randn(16, 1, 3, 3)" },
    "F.conv2d(a, b, padding=1, groups=16)", "conv{ x = a, w = b, y = y, padding = 1, groups = 16 }" },
  { "conv with bias", { "torch.randn(2, 8, 14, 14)", "torch.randn(12, 8, 3, 3)", "torch.randn(12)" },
    "F.conv2d(a, b, c, padding=1)", "conv{ x = a, w = b, bias = c, y = y, padding = 1 }" },
  { "conv with ReLU", { "torch.randn(2, 8, 14, 14)", "torch.randn(12, 8, 3, 3)" },
    "F.relu(F.conv2d(a, b, padding=1))", "conv{ x = a, w = b, y = y, padding = 1, activation = 'relu' }" },
  { "conv with bias and ReLU",
    { "torch.randn(2, 8, 14, 14)", "torch.randn(12, 8, 3, 3)", "torch.randn(12)" },
    "F.relu(F.conv2d(a, b, c, padding=1))",
    "conv{ x = a, w = b, bias = c, y = y, padding = 1, activation = 'relu' }" },
  { "conv 1D with bias and ReLU",
    { "torch.randn(2, 8, 50)", "torch.randn(12, 8, 3)", "torch.randn(12)" },
    "F.relu(F.conv1d(a, b, c))", "conv{ x = a, w = b, bias = c, y = y, activation = 'relu' }" },
  { "transposed 1D", { "torch.randn(2, 8, 17)", "torch.randn(8, 6, 4)" },
    "F.conv_transpose1d(a, b, stride=3, padding=1, output_padding=2)",
    "conv{ x = a, w = b, y = y, transposed = true, stride = 3, padding = 1, output_padding = 2 }" },
  { "transposed 2D", { "torch.randn(2, 8, 9, 11)", "torch.randn(8, 6, 3, 3)" },
    "F.conv_transpose2d(a, b, stride=2, padding=1, output_padding=1)",
    "conv{ x = a, w = b, y = y, transposed = true, stride = 2, padding = 1, output_padding = 1 }" },
  { "transposed 2D, groups and bias",
    { "torch.randn(2, 8, 9, 11)", "torch.randn(8, 3, 3, 3)", "torch.randn(6)" },
    "F.conv_transpose2d(a, b, c, stride=2, groups=2)",
    "conv{ x = a, w = b, bias = c, y = y, transposed = true, stride = 2, groups = 2 }" },
  { "transposed 3D with bias and ReLU",
    { "torch.randn(2, 4, 5, 6, 7)", "torch.randn(4, 6, 3, 3, 3)", "torch.randn(6)" },
    "F.relu(F.conv_transpose3d(a, b, c, stride=2))",
    "conv{ x = a, w = b, bias = c, y = y, transposed = true, stride = 2, activation = 'relu' }" },
  { "conv in float16",
    { "torch.randn(2, 16, 14, 14).half()", "torch.randn(16, 16, 3, 3).half()" },
    "F.conv2d(a, b, padding=1)", "conv{ x = a, w = b, y = y, padding = 1 }" },
  { "conv in bfloat16 with bias and ReLU",
    { "torch.randn(2, 16, 14, 14).bfloat16()", "torch.randn(16, 16, 3, 3).bfloat16()",
      "torch.randn(16).bfloat16()" }, "F.relu(F.conv2d(a, b, c, padding=1))",
    "conv{ x = a, w = b, bias = c, y = y, padding = 1, activation = 'relu' }" },
  { "conv in tf32", { "torch.randn(4, 32, 28, 28)", "torch.randn(32, 32, 3, 3)" },
    "F.conv2d(a, b, padding=1)", "conv{ x = a, w = b, y = y, padding = 1, compute = 'tf32' }",
    nrms = { 1e-8, 2e-3 } },                       -- cuDNN may find an exact algorithm better
  { "conv, flattened, then a product",
    { "torch.randn(4, 3, 10, 10)", "torch.randn(6, 3, 3, 3)", "torch.randn(5, 384)" },
    "F.linear(F.relu(F.conv2d(a, b)).flatten(1), c)",
    [[local h = scratch{ shape = { 4, 6, 8, 8 } }
      conv{ x = a, w = b, y = h, activation = "relu" }
      gemm{ a = view(h, { shape = { 4, 384 } }), b = c, c = y, transpose_b = true }]] },
}

local names = { "a", "b", "c", "d" }

local function open(device, host, case)
  local args = table.concat(names, ", ", 1, #case[2])
  local path = check.write(check.folder() .. "/task.py",
    text:format(case.init or "pass", args, case[3], table.concat(case[2], ", ")))
  return assert(cawb.task(path, { device = device, host = host }))
end

local function candidate(case)
  local plan = {}
  for i = 1, #case[2] do plan[i] = ("local %s = inputs[%d] "):format(names[i], i) end
  return cawb.candidate { source = "// no kernel\n", name = case[1],
    plan = table.concat(plan) .. "local y = outputs[1]\n" .. case[4] }
end

local function verify(task, case)
  local result = assert(cawb.verify(task, candidate(case), { trials = 2 }))
  if not case.nrms then
    assert(result.ok, tostring(result.stage) .. ": " .. tostring(result.reason))
  else
    local e = result.error and result.error.nrms
    assert(e and e >= case.nrms[1] and e <= case.nrms[2],
      ("error %s is not that of this precision: %s"):format(tostring(e), tostring(result.reason)))
  end
  return result
end

return function(device)
  local host = { assert(python.start(cawb.defaults.deadlines.start)) }
  for _, case in ipairs(cases) do
    check.test(case[1], function()
      local task <close> = open(device, host, case)
      verify(task, case)
      if case.nrms then return end
      local time = assert(cawb.measure(task, candidate(case), { against = {}, samples = 10 }))
      assert(time.ok, tostring(time.reason))       -- every timed output was right, too
      for _, step in ipairs(device.loaded.steps) do
        assert(step.kind ~= nil and step.chosen.library ~= "", "no choice is reported")
      end
    end)
  end
  return check, open, candidate, host
end
