-- PyTorch's modelled times, from operator graphs made by hand: what is read and written, once
-- or more often, by an operator and by a fused kernel.

local check = dofile "tests/lua/check.lua"
local libraries = require "cawb.graph.libraries"
local model = require "cawb.graph.modelled"

local rates = { launch = 0.0, dram = 1.0, fp32 = 1e30 }       -- so that seconds are bytes
local sms = 132

local function tensor(source, ...) return { source = source, dtype = "float32", shape = { ... } } end

local function op(number, name, kind, inputs, output, args, traits)
  local read = 0
  for _, t in ipairs(inputs) do
    local n = 4
    for _, s in ipairs(t.shape) do n = n * s end
    read = read + n
  end
  local written = 4
  for _, s in ipairs(output) do written = written * s end
  return { number = number, op = "aten." .. name .. ".default", name = name, kind = kind, traits = traits, inputs = inputs, args = args or {},
    outputs = { { dtype = "float32", shape = output } }, bytes_read = read, bytes_written = written, flops = 1 }
end

local function near(got, want, what)
  if not (math.abs(got - want) <= 1e-9 * want) then check.equal(got, want, what) end
end

local x = tensor("input:1", 64, 1000)
local n = 4 * 64 * 1000

check.test("a fused kernel reads each tensor once and keeps what it makes", function()
  local graph = { op(1, "sigmoid", "pointwise", { x }, { 64, 1000 }),
                  op(2, "mul", "pointwise", { x, tensor("op:1", 64, 1000) }, { 64, 1000 }) }
  local t = model.times(graph, rates, sms)
  near(t.eager, 2 * n + 3 * n)
  near(t.compile, 2 * n)
end)

check.test("rows that a block does not keep are read again", function()
  local long = 64 << 10
  local function softmax(cols)
    return model.times({ op(1, "_softmax", "normalization", { tensor("input:1", 8, cols) }, { 8, cols }, { dim = -1 },
      { passes = 3 }) }, rates, sms)
  end
  near(softmax(1000).eager, 2 * 4 * 8 * 1000, "short")
  near(softmax(long).eager, 4 * 4 * 8 * long, "eager: the largest, the sum, the quotient")
  near(softmax(long).compile, 3 * 4 * 8 * long)
  local norm = { op(1, "norm", "reduction", { tensor("input:1", 8, long) }, { 8, 1 }),
                 op(2, "div", "pointwise", { tensor("input:1", 8, long), tensor("op:1", 8, 1) }, { 8, long }) }
  near(model.times(norm, rates, sms).compile, 3 * 4 * 8 * long / model.reached.compile.reduction)
end)

check.test("a scan is slower by itself and fuses with what feeds it", function()
  local graph = { op(1, "mul", "pointwise", { x }, { 64, 1000 }),
                  op(2, "cumsum", "other", { tensor("op:1", 64, 1000) }, { 64, 1000 }, {}, { cumulative = true }) }
  local t = model.times(graph, rates, sms)
  near(t.compile, 2 * n)
  near(t.eager, 2 * n + 2 * n / model.reached.eager.scan)
end)

local gpu = { launch = 4e-6, dram = 3e12, fp32 = 67e12 }

local function mm(m, n, k)
  local one = op(1, "mm", "matmul", { tensor("input:1", m, k), tensor("input:2", k, n) }, { m, n })
  one.flops = 2.0 * m * n * k
  return model.times({ one }, gpu, sms).eager
end

check.test("large products reach what they reach; small ones fill neither tiles nor waves; few terms wait for the store", function()
  local flops = 2 * 8192.0 ^ 3
  assert(math.abs(mm(8192, 8192, 8192) / (flops / gpu.fp32 / libraries.reached.matmul) - 1) < 0.03)
  assert(mm(512, 512, 512) > 2 * 2 * 512.0 ^ 3 / gpu.fp32 / libraries.reached.matmul + gpu.launch, "16 tiles on 132 multiprocessors")
  assert(mm(1025, 1025, 8192) > 1.05 * mm(1024, 1024, 8192), "a row more is a tile more")
  local thin = mm(32768, 32768, 64)
  assert(thin > 2 * 32768.0 ^ 2 * 64 / gpu.fp32 / libraries.reached.matmul + 4 * 32768.0 ^ 2 / gpu.dram, "the store overlaps")
end)

local function convolution(shape, weight, out, args, flops)
  local one = op(1, "convolution", "convolution", { tensor("input:1", table.unpack(shape)), tensor("param:w", table.unpack(weight)) }, out, args)
  one.flops = flops
  return model.times({ one }, gpu, sms)
end

check.test("a transposed convolution is far from a forward one; compile turns planes around, and pays for it", function()
  local plain, strided = { groups = 1, stride = { 1, 1 } }, { groups = 1, stride = { 2, 2 }, transposed = true }
  local flops = 2.0 * 16 * 64 * 256 * 256 * 64 * 9
  local forward = convolution({ 16, 64, 258, 258 }, { 64, 64, 3, 3 }, { 16, 64, 256, 256 }, plain, flops)
  local back = convolution({ 16, 64, 128, 128 }, { 64, 64, 3, 3 }, { 16, 64, 256, 256 }, strided, flops / 4)
  assert(back.eager > forward.eager, "a quarter of the operations, and longer")
  local turned = 4.0 * 16 * 64 * (258 * 258 + 256 * 256) / gpu.dram
  assert(forward.compile - forward.eager > 2 * turned, "channels last cost nothing")
  local alone = convolution({ 16, 64, 258, 258 }, { 64, 1, 3, 3 }, { 16, 64, 256, 256 }, { groups = 64, stride = { 1, 1 } }, flops / 64)
  assert(alone.compile > 3 * alone.eager)
  check.equal(next(model.times({}, gpu, sms)), nil)
end)

check.test("a short reduction waits longer than its bytes take, eager's more than compile's", function()
  local t = model.times({ op(1, "sum", "reduction", { tensor("input:1", 64, 1000) }, { 64, 1 }) }, gpu, sms)
  assert(t.eager > t.compile and t.eager > 2 * gpu.launch and t.compile < 2 * gpu.launch)
end)

check.test("a launch that follows another is no first one", function()
  local a, b = op(1, "relu", "pointwise", { x }, { 64, 1000 }), op(2, "mm", "matmul", { tensor("op:1", 64, 1000), x }, { 64, 64 })
  local both, alone = model.times({ a, b }, gpu, sms).eager, model.times({ a }, gpu, sms).eager + model.times({ b }, gpu, sms).eager
  near(alone - both, gpu.launch - model.next)
end)

return check.done()
