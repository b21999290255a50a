-- Generated sorts on the simulated device: each way, ties and NaN, whole and real numbers.

local cawb = require "cawb"
local order = require "cawb.compose.emit.order.order"

local device <close> = assert(cawb.device "sim:h100")
local generated = dofile "tests/support/generated.lua" (device)
local check = generated.check

local text = [[
import torch
shape, dim, most, largest, dtype, values, strange = [2, 3], 1, 0, False, "float32", 0, False
class Model(torch.nn.Module):
    def forward(self, x):
        v, at = torch.sort(x, dim=dim, descending=largest, stable=True)
        if most:
            v, at = v.narrow(dim, 0, most), at.narrow(dim, 0, most)
        return v, at
def get_inputs():
    t = getattr(torch, dtype)
    x = torch.randint(-values, values + 1, shape) if values else torch.randn(shape) * 1000
    x = x.to(t)
    if strange:
        flat = x.view(-1)
        flat[::5], flat[1::7], flat[2::11], flat[3::13] = float("nan"), float("inf"), -float("inf"), -0.0
        flat[4::13] = 0.0
    return [x]
def get_init_inputs():
    return []
]]

local c_types = { float32 = "float", float64 = "double", int64 = "long long", int32 = "int", uint8 = "unsigned char" }

local function description(case)
  local T = c_types[case.dtype or "float32"]
  local outer, inner = 1, 1
  for d, n in ipairs(case.shape) do
    if d <= case.dim then outer = outer * n elseif d > case.dim + 1 then inner = inner * n end
  end
  local n = case.shape[case.dim + 1]
  local most = case.most or n
  local to = ("(o * %d + k) * %d + i"):format(most, inner)
  return { name = "sorted", type = T, outer = outer, n = n, inner = inner, most = most, largest = case.largest,
    parameters = { ("%s *__restrict__ y1"):format(T), "long long *__restrict__ y2", ("const %s *__restrict__ x1"):format(T) },
    arguments = { "outputs[1]", "outputs[2]", "inputs[1]" },
    load = ("return x1[(o * %d + k) * %d + i];"):format(n, inner),
    store = ("y1[%s] = value;\ny2[%s] = at;"):format(to, to) }
end

local function right(what, case)
  check.test("a sort is right: " .. what, function()
    local constants = { shape = case.shape, dim = case.dim, most = case.most, largest = case.largest, dtype = case.dtype,
                        values = case.values, strange = case.strange }
    generated.right(text, constants, { order.made(description(case), case.how) }, {})
  end)
end

right("one element", { shape = { 3, 1 }, dim = 1 })
right("short rows, several a block", { shape = { 9, 33 }, dim = 1 })
right("the largest first, with ties", { shape = { 3, 300 }, dim = 1, largest = true, values = 4 })
right("NaN, infinities and both zeros", { shape = { 4, 130 }, dim = 1, strange = true })
right("NaN, infinities and both zeros, the largest first", { shape = { 4, 130 }, dim = 1, strange = true, largest = true })
right("along columns", { shape = { 2, 50, 7 }, dim = 1, values = 9 })
right("whole numbers", { shape = { 3, 100 }, dim = 1, dtype = "int64", values = 2000000000 })
right("narrow whole numbers", { shape = { 3, 100 }, dim = 1, dtype = "uint8", values = 100, largest = true })
right("float64", { shape = { 3, 100 }, dim = 1, dtype = "float64", strange = true })
right("the first of short rows", { shape = { 5, 70 }, dim = 1, most = 3, largest = true })
right("the first of long rows", { shape = { 2, 5000 }, dim = 1, most = 20, largest = true })
right("the first of many equals", { shape = { 2, 3000 }, dim = 1, most = 100, values = 2 })
right("the first of columns with NaN", { shape = { 2100, 3 }, dim = 0, most = 1000, strange = true, largest = true })
right("runs merged, an odd number of them", { shape = { 2, 700 }, dim = 1, values = 50, how = { short = 128 } })
right("runs of 64 bits", { shape = { 1, 500 }, dim = 1, dtype = "float64", strange = true, largest = true,
                           how = { short = 64 } })
right("runs of a row beyond a block", { shape = { 1, 4999 }, dim = 1 })
right("the first of merged runs", { shape = { 3, 300, 2 }, dim = 1, most = 200, how = { short = 64, select = false } })

check.test("no elements are no launches", function()
  check.equal(#order.made(description { shape = { 3, 0 }, dim = 1 }).launches, 0, "launches")
end)

-- The same from tasks: places and values in one kernel.
local composed = dofile "tests/support/composed.lua"

local function one(forward, inputs)
  check.test("a sort with what is behind it is one kernel: " .. forward, function()
    check.equal(#composed.right(forward, inputs).kernels, 1, "kernels")
  end)
end

one("return torch.sort(x, dim=1, stable=True)", "[torch.randn(3, 40)]")
one("return torch.topk(x, 3, dim=0)", "[torch.randn(20, 5)]")
one("v, i = torch.topk(x, 4, largest=False)\nreturn torch.exp(v) * y", "[torch.randn(6, 50), torch.randn(4)]")
one("return torch.sort(x, dim=-1, descending=True)[0]", "[torch.randint(-9, 9, (3, 40))]")
one("return torch.argsort(x, dim=1, stable=True)", "[torch.randn(3, 33)]")

check.test("sorts of what is computed, and the k-th of them", function()
  composed.right("return torch.sort((x * y).transpose(1, 2), dim=1)[0].relu()", "[torch.randn(3, 7, 5), torch.randn(5)]")
  composed.right("return torch.kthvalue(x, 3, dim=1)", "[torch.randn(4, 9)]")
  composed.right("v, i = torch.sort(x, dim=1, stable=True)\nreturn torch.gather(y, 1, i) + v", "[torch.randn(4, 9), torch.randn(4, 9)]")
end)

return check.done()
