-- Right kernels whose sums are added up in another order than PyTorch's are right, whatever values they meet;
-- the same kernels with narrow numbers on the way are not.

local cawb = require "cawb"
local device <close> = assert(cawb.device "sim:h100")
local generated = dofile "tests/support/generated.lua" (device)
local check = generated.check

local function task(forward, dtype, shape)
  return ([[
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return %s
def get_inputs():
    return [torch.randn(%s, dtype=torch.%s)]
def get_init_inputs():
    return []
]]):format(forward, shape, dtype)
end

-- `text` computes a row of `n` numbers of type T in one thread.
local function kernel(text, dtype, rows, n, width)
  local T = dtype == "float64" and "double" or "float"
  local source = ([[
typedef %s T;
extern "C" __global__ void right(T *outs, const T *xs) {
  if (threadIdx.x) return;
  const T *x = xs + blockIdx.x * %d;
  T *y = outs + blockIdx.x * %d;
  %s
}]]):format(T, n, width or n, text)
  return { text = source, launches = { { kernel = "right", grid = { rows }, block = { 32 }, arguments = { "outputs[1]", "inputs[1]" } } } }
end

local in_order = "T s = 0; for (int i = 0; i < 1500; i++) s += x[i]; y[0] = s;"
local from_the_end = "T s = 0; for (int i = 1499; i >= 0; i--) s += x[i]; y[0] = s;"
local running = "T s = 0; for (int i = 0; i < 1500; i++) { s += x[i]; y[i] = s; }"
local rounded = "T s = 0; for (int i = 0; i < 1500; i++) s += __uint_as_float(__float_as_uint(x[i]) & 0xfffff000u); y[0] = s;"
local kinds = { "constant", "constant", "heavy", "offset", "mixed", "constant" }

local function right(what, forward, dtype, text, width)
  check.test(what .. " is right: " .. dtype, function()
    local made = kernel(text, dtype, 3, 1500, width)
    generated.right(task(forward, dtype, "3, 1500"), {}, { made }, kinds)
  end)
end

for _, dtype in ipairs { "float32", "float64" } do
  right("a sum in order", "x.sum(1)", dtype, in_order, 1)
  right("a sum from the end", "x.sum(1)", dtype, from_the_end, 1)
  right("a running sum in order", "torch.cumsum(x, 1)", dtype, running)
end

check.test("factors rounded to eleven bits are told, though the sum is long", function()
  local result = generated.verdict(task("x.sum(1)", "float32", "3, 1500"), {}, { kernel(rounded, "float32", 3, 1500, 1) }, kinds)
  check.equal(result.ok, false)
end)

check.test("in float64 a sum in float32 is told", function()
  local narrow = "float s = 0; for (int i = 0; i < 1500; i++) s += (float)x[i]; y[0] = s;"
  local result = generated.verdict(task("x.sum(1)", "float64", "3, 1500"), {}, { kernel(narrow, "float64", 3, 1500, 1) }, kinds)
  check.equal(result.ok, false)
end)

return check.done()
