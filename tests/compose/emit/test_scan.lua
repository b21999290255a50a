-- Generated scans on the simulated device: rows and columns, from both ends, parts, tails.

local cawb = require "cawb"
local scan = require "cawb.compose.emit.scan.scan"

local device <close> = assert(cawb.device "sim:h100")
local generated = dofile "tests/support/generated.lua" (device)
local check = generated.check

local text = [[
import torch
op, shape, dim, reverse, exclusive, dtype = "sum", [2, 3], 1, False, False, "float32"
class Model(torch.nn.Module):
    def forward(self, x):
        y = x.flip(dim) if reverse else x
        y = torch.cumsum(y, dim) if op == "sum" else torch.cumprod(y, dim)
        y = y.flip(dim) if reverse else y
        return y - x if exclusive else y * 2
def get_inputs():
    t = getattr(torch, dtype)
    x = torch.rand(shape) + 0.5 if t.is_floating_point else torch.randint(-9, 9, shape)
    return [x.to(t)]
def get_init_inputs():
    return []
]]

local c_types = { float32 = "float", float64 = "double", int64 = "long long" }

-- What stands behind the scan.
local function behind(case, value, own)
  return case.exclusive and ("%s - %s"):format(value, own) or ("%s * 2"):format(value)
end

local function description(case)
  local T = c_types[case.dtype or "float32"]
  local outer, inner = 1, 1
  for d, n in ipairs(case.shape) do
    if d <= case.dim then outer = outer * n elseif d > case.dim + 1 then inner = inner * n end
  end
  local n = case.shape[case.dim + 1]
  local at = ("(o * %d + k) * %d + i"):format(n, inner)
  local d = { name = "running", op = case.op or "sum", type = T, outer = outer, n = n, inner = inner,
    reverse = case.reverse, parameters = { ("%s *__restrict__ y1"):format(T), ("const %s *__restrict__ x1"):format(T) },
    arguments = { "outputs[1]", "inputs[1]" },
    load = ("return x1[%s];"):format(at), store = ("y1[%s] = %s;"):format(at, behind(case, "value", "own")) }
  if case.vector then
    local pack = ("((o * %d + k) / 4)"):format(n)
    d.load4 = ("const float4 a = ((const float4 *)x1)[%s];\nv[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = a.w;"):format(pack)
    local all = {}
    for j = 0, 3 do all[j + 1] = behind(case, ("v[%d]"):format(j), ("own[%d]"):format(j)) end
    d.store4 = ("((float4 *)y1)[%s] = make_float4(%s);"):format(pack, table.concat(all, ", "))
  end
  return d
end

local function right(what, case)
  check.test("a scan is right: " .. what, function()
    local constants = { shape = case.shape, dim = case.dim, op = case.op, dtype = case.dtype, reverse = case.reverse,
                        exclusive = case.exclusive }
    generated.right(text, constants, { scan.made(description(case), case.how, 132) }, case.battery)
  end)
end

right("one element", { shape = { 1, 1 }, dim = 1 })
right("ragged rows", { shape = { 3, 1027 }, dim = 1 })
right("packs of four, the tail in the middle of a warp", { shape = { 2, 2052 }, dim = 1, vector = true })
right("packs of four from the end", { shape = { 3, 516 }, dim = 1, vector = true, reverse = true })
right("from the end, ragged", { shape = { 2, 131 }, dim = 1, reverse = true })
right("of what lies before", { shape = { 3, 516 }, dim = 1, vector = true, exclusive = true })
right("of what lies before in columns", { shape = { 5, 9, 3 }, dim = 1, exclusive = true })
right("parts", { shape = { 2, 17001 }, dim = 1 })
right("more parts than a warp has lanes", { shape = { 1, 4100 }, dim = 1, vector = true,
                                             how = { threads = 32, packs = 1, parts = 40 } })
right("products", { shape = { 2, 130 }, dim = 1, op = "prod" })
right("whole numbers", { shape = { 2, 300 }, dim = 1, dtype = "int64" })
right("products of whole numbers in columns", { shape = { 2, 30, 3 }, dim = 1, dtype = "int64", op = "prod" })
right("float64", { shape = { 2, 700 }, dim = 1, dtype = "float64" })
right("columns", { shape = { 2, 150, 37 }, dim = 1 })
right("columns from the end, first axis", { shape = { 300, 40 }, dim = 0, reverse = true })
right("parts of columns", { shape = { 600, 33 }, dim = 0, how = { parts = 5, slices = 2, packs = 4 } })

check.test("no elements are no launches, and equal descriptions equal texts", function()
  check.equal(#scan.made(description { shape = { 3, 0 }, dim = 1 }, nil, 132).launches, 0, "launches")
  local case = { shape = { 3, 9000 }, dim = 1 }
  check.equal(scan.made(description(case), nil, 132).text, scan.made(description(case), nil, 132).text, "text")
end)

-- The same from tasks: one kernel, whatever stands before and behind.
local composed = dofile "tests/support/composed.lua"

local function one(forward, inputs)
  check.test("a scan with what is around it is one kernel: " .. forward, function()
    check.equal(#composed.right(forward, inputs).kernels, 1, "kernels")
  end)
end

one("return torch.cumsum(x * 2, 1) + y", "[torch.randn(6, 300), torch.randn(6, 1)]")
one("return torch.cumsum(x.flip(1), 1).flip(1)", "[torch.randn(3, 132)]")
one("return torch.cumsum(x.flip(0), 0).flip(0) * 2", "[torch.randn(20, 37)]")
one("return torch.cumsum(x, 1) - x", "[torch.randn(3, 516)]")
one("return torch.cumsum(x * y, dim=1)", "[torch.randn(2, 1001), torch.randint(0, 2, (2, 1001)).bool()]")
one("return torch.cumsum(x, 2)", "[torch.randint(-5, 5, (2, 3, 40), dtype=torch.int32)]")

check.test("what others need too is written beside", function()
  check.equal(#composed.right("y = torch.cumsum(x, 1)\nreturn y * 2, y", "[torch.randn(3, 40)]").kernels, 1, "kernels")
  check.equal(#composed.right("y = torch.cumsum(x, 1)\nreturn y * 2, y.sum(1)", "[torch.randn(3, 400)]").kernels, 2, "kernels")
end)

return check.done()
