-- Generated products on the simulated device: every tile, ragged sides, transposes, parts of k.

local cawb = require "cawb"
local product = require "cawb.compose.emit.product.product"

local device <close> = assert(cawb.device "sim:h100")
local generated = dofile "tests/support/generated.lua" (device)
local check = generated.check
local chip = assert(require "cawb.gpu.chip".named "h100")

local text = [[
import torch
batch, m, n, k, a_is_t, b_is_t, dtype = 1, 2, 3, 4, False, False, "float32"
class Model(torch.nn.Module):
    def forward(self, a, b):
        a = a.transpose(1, 2) if a_is_t else a
        b = b.transpose(1, 2) if b_is_t else b
        return torch.relu(torch.bmm(a, b) + 0.25)
def get_inputs():
    t = getattr(torch, dtype)
    a = torch.randn((batch, k, m) if a_is_t else (batch, m, k), dtype=t)
    b = torch.randn((batch, n, k) if b_is_t else (batch, k, n), dtype=t)
    return [a, b]
def get_init_inputs():
    return []
]]

local four = "const float4 q = *(const float4 *)(%s + %s);\nv[0] = q.x, v[1] = q.y, v[2] = q.z, v[3] = q.w;"

local function description(case)
  local T = case.dtype == "float64" and "double" or "float"
  local a = case.a_is_t and ("(z * %d + k) * %d + m"):format(case.k, case.m) or ("(z * %d + m) * %d + k"):format(case.m, case.k)
  local b = case.b_is_t and ("(z * %d + n) * %d + k"):format(case.n, case.k) or ("(z * %d + k) * %d + n"):format(case.k, case.n)
  return { name = "summed", type = T, batch = case.batch or 1, m = case.m, n = case.n, k = case.k,
    parameters = { T .. " *__restrict__ y1", ("const %s *__restrict__ x1"):format(T), ("const %s *__restrict__ x2"):format(T) },
    arguments = { "outputs[1]", "inputs[1]", "inputs[2]" },
    along_a = case.a_is_t and "m" or "k", along_b = case.b_is_t and "k" or "n",
    a = ("return x1[%s];"):format(a), b = ("return x2[%s];"):format(b),
    a4 = case.four and four:format("x1", a), b4 = case.four and four:format("x2", b),
    store4 = case.four and ("for (int j = 0; j < 4; j++) {\n  const float c = v[j] + 0.25f;\n  y1[(z * %d + m) * %d + n + j] = c < 0 ? 0 : c;\n}"):format(case.m, case.n),
    store = ("const %s c = value + (%s)0.25;\ny1[(z * %d + m) * %d + n] = c < 0 ? 0 : c;"):format(T, T, case.m, case.n) }
end

local function right(what, case)
  check.test("a product is right: " .. what, function()
    local constants = { batch = case.batch, m = case.m, n = case.n, k = case.k, a_is_t = case.a_is_t, b_is_t = case.b_is_t,
                        dtype = case.dtype }
    generated.right(text, constants, { product.made(description(case), case.how, chip) }, case.battery)
  end)
end

for tile = 1, product.tiles do
  right("ragged sides, tile " .. tile, { m = 37, n = 133, k = 21, how = { tile = tile }, battery = {} })
end
for _, splits in ipairs { 1, 2, 3, 8 } do
  for tile = product.tiles - 2, product.tiles do
    local case = { batch = 2, m = 37, n = 68, k = 484, four = splits > 1, b_is_t = splits % 2 == 0, how = { tile = tile, splits = splits }, battery = { "mixed", "nan" } }
    right(("slices of k, tile %d, %d blocks of a cluster"):format(tile, splits), case)
    check.test("it has these slices", function()
      local launches = product.made(description(case), case.how, chip).launches
      check.equal(#launches, 1, "launches")
      check.equal((launches[1].cluster or { 1 })[1], splits, "blocks of a cluster")
    end)
  end
end
local FIRST = product.tiles - 2         -- with a short side
for _, rows in ipairs { 1, 2, 7, 8, 9, 31, 50, 57, 64, 65 } do
  right(("a short side of %d rows"):format(rows), { m = rows, n = 70, k = 100, four = rows % 2 == 1, b_is_t = true, how = { tile = FIRST + rows % 3, splits = 1 + rows % 2 }, battery = { "mixed", "nan" } })
  right(("a short side of %d columns"):format(rows), { m = 75, n = rows, k = 91 + rows, b_is_t = rows % 2 == 0, how = { tile = FIRST + rows % 2, splits = 1 + rows % 3 }, battery = { "integers" } })
end
for _, case in ipairs { { m = 36, n = 132, a_is_t = true }, { m = 132, n = 36, a_is_t = true }, { m = 132, n = 36, b_is_t = true }, { m = 132, n = 36, a_is_t = true, b_is_t = true } } do
  case.k, case.four, case.how, case.battery = 68, true, { tile = FIRST, splits = 2 }, { "mixed", "nan" }
  right(("a short side, packs of four, %d x %d, %s, %s"):format(case.m, case.n, case.a_is_t, case.b_is_t), case)
end
right("a short side and a long sum", { m = 3, n = 40, k = 6001, how = { tile = FIRST + 1, splits = 8 }, battery = { "mixed", "integers", "nan" } })

right("one element", { m = 1, n = 1, k = 1 })
right("transposes, packs of four", { batch = 2, m = 36, n = 40, k = 20, a_is_t = true, b_is_t = true, four = true })
right("packs of four, large tiles", { m = 132, n = 136, k = 24, four = true, how = { tile = 1 }, battery = {} })
right("packs of four, parts of k, long sums", { m = 20, n = 24, k = 1112, four = true, how = { splits = 2 }, battery = { "mixed", "integers", "nan" } })
right("packs of four, a long sum", { m = 20, n = 24, k = 1000, four = true, how = { splits = 1 }, battery = { "mixed", "integers" } })
right("the first factor transposed", { batch = 3, m = 35, n = 17, k = 33, a_is_t = true })
right("the second factor transposed", { m = 35, n = 17, k = 33, b_is_t = true })
right("a long sum", { m = 20, n = 24, k = 3001, how = { splits = 1 }, battery = { "mixed", "integers" } })
right("parts of k", { batch = 2, m = 20, n = 24, k = 1111, how = { splits = 5 }, battery = { "mixed", "integers", "nan" } })
right("float64", { m = 20, n = 24, k = 70, dtype = "float64" })

check.test("few blocks split k", function()
  local plain = require "cawb.gpu.chip".plain(chip)
  check.equal(#product.made(description { m = 32, n = 32, k = 8192 }, nil, plain).launches, 2, "launches where blocks form no clusters")
  local one = product.made(description { m = 32, n = 32, k = 4096 }, nil, chip).launches
  check.equal(#one, 1, "launches")
  check.equal(one[1].cluster[1], 8, "blocks of a cluster")
  check.equal(#product.made(description { m = 0, n = 4, k = 4 }, nil, chip).launches, 0, "launches of nothing")
end)

check.test("a product with a short side is one kernel, of which much is under way at once", function()
  for _, s in ipairs { { 50, 512, 512 }, { 50, 512, 2048 }, { 50, 2048, 512 }, { 1, 1000, 2048 } } do
    local launches = product.made(description { m = s[1], n = s[2], k = s[3], b_is_t = true, four = true }, nil, chip).launches
    check.equal(#launches, 1, "launches")
    check.equal(launches[1].grid[1] >= chip.sms // 3, true, "blocks: " .. launches[1].grid[1])
  end
end)

check.test("without tensor cores no product uses them", function()
  local plain = require "cawb.gpu.chip".with(chip, { tensor = false })
  local made = product.made(description { m = 50, n = 512, k = 512, b_is_t = true, four = true }, nil, plain)
  check.equal(made.text:find("multiply_tf32", 1, true), nil)
end)

check.test("a sum over nothing is zero, and what is behind it", function()
  local made = product.made(description { m = 3, n = 4, k = 0 }, nil, chip)
  check.equal(#made.launches, 1, "launches")
end)

-- The same from tasks that no library serves: one kernel with what stands behind.
local composed = dofile "tests/support/composed.lua"

local function one(forward, inputs, setup, options)
  check.test("a product with what is behind it is one kernel: " .. forward, function()
    local made = composed.right(forward, inputs, setup, options)
    check.equal(#made.kernels, 1, "kernels")
    check.equal(made.kernels[1].by, "product")
  end)
end

local none = { libraries = false }
one("return F.gelu(self.l(x)) * 2", "[torch.randn(33, 20)]", "self.l = nn.Linear(20, 36)", none)
one("return x.transpose(1, 2) @ y + 1", "[torch.randn(3, 20, 8), torch.randn(3, 20, 6)]", nil, none)
one("return x @ y", "[torch.randn(2, 3, 9, 8), torch.randn(2, 3, 8, 5)]", nil, none)
one("return x @ y", "[torch.randn(9, 30, dtype=torch.float64), torch.randn(30, 5, dtype=torch.float64)]")
one("return x @ y", "[torch.randint(-99, 99, (9, 30)), torch.randint(-99, 99, (30, 5))]")
one("return x @ y", "[torch.randn(9, 30, dtype=torch.float16), torch.randn(30, 5, dtype=torch.float16)]", nil, none)
one("return x @ y", "[torch.randint(-9, 9, (9, 700)), torch.randint(-9, 9, (700, 5))]")
one("return torch.relu(x @ y)", "[torch.randn(9, 700, dtype=torch.float16), torch.randn(700, 8, dtype=torch.float16)]", nil, none)
one("return F.gelu(self.l(x)) + y", "[torch.randn(50, 512), torch.randn(50, 64)]", "self.l = nn.Linear(512, 64)", none)
one("return torch.addmm(x, y, z, alpha=0.5, beta=2)", "[torch.randn(9, 5), torch.randn(9, 7), torch.randn(7, 5)]", nil, none)

-- Weights of 16 bits are half the bytes, read four numbers at once, and each is one tf32 number.
check.test("few rows of 16-bit numbers are multiplied as they are, with half the sectors of float32", function()
  local function read(dtype, battery)
    local D = (", dtype=torch.%s)"):format(dtype)
    local forward, inputs, setup = "return F.gelu(self.l(x))", ("[torch.randn(3, 512%s]"):format(D), "self.l = nn.Linear(512, 328" .. D
    local how = { arch = "sm_90a", libraries = false, kernels = function() return { tile = FIRST + 1, splits = 2 } end }
    composed.right(forward, inputs, setup, how, battery)
    local m = composed.metrics(forward, inputs, setup, how)[1]
    return m.l2_sectors, m["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], m.issued
  end
  local sectors, requests, instructions = read("float32", { "mixed" })
  for _, dtype in ipairs { "bfloat16", "float16" } do
    local less, as_many, fewer = read(dtype, { "mixed", "nan" })
    assert(fewer < 0.8 * instructions, ("%d instructions of %s, and %d of float32"):format(fewer, dtype, instructions))
    assert(less < 0.6 * sectors, ("%d sectors of %s, and %d of float32"):format(less, dtype, sectors))
    assert(as_many <= 1.1 * requests, ("%d requests for %s, and %d for float32"):format(as_many, dtype, requests))
  end
end)

check.test("rows of packs of four are written as such", function()
  local function stores(columns)
    local forward, inputs = "return torch.relu(x @ y)", ("[torch.randn(3, 20, 12), torch.randn(3, 12, %d)]"):format(columns)
    composed.right(forward, inputs, nil, none)
    return composed.metrics(forward, inputs, nil, none)[1]["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"]
  end
  assert(2 * stores(8) < stores(9), "eight columns are written one by one")
end)

return check.done()
