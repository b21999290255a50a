-- PyTorch's modelled times, from operator graphs made by hand: what is read and written, once
-- or more often, by an operator and by a fused kernel.

local check = dofile "tests/lua/check.lua"
local model = require "cawb.graph.modelled"

local rates = { launch = 0.0, dram = 1.0, fp32 = 1e30 }       -- so that seconds are bytes

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
  local t = model.times(graph, rates)
  near(t.eager, 2 * n + 3 * n)
  near(t.compile, 2 * n)
end)

check.test("rows that a block does not keep are read again", function()
  local long = 64 << 10
  local function softmax(cols)
    return model.times({ op(1, "_softmax", "normalization", { tensor("input:1", 8, cols) }, { 8, cols }, { dim = -1 },
      { passes = 3 }) }, rates)
  end
  near(softmax(1000).eager, 2 * 4 * 8 * 1000, "short")
  near(softmax(long).eager, 4 * 4 * 8 * long, "eager: the largest, the sum, the quotient")
  near(softmax(long).compile, 3 * 4 * 8 * long)
  local norm = { op(1, "norm", "reduction", { tensor("input:1", 8, long) }, { 8, 1 }),
                 op(2, "div", "pointwise", { tensor("input:1", 8, long), tensor("op:1", 8, 1) }, { 8, long }) }
  near(model.times(norm, rates).compile, 3 * 4 * 8 * long)
end)

check.test("a scan is slower by itself and fuses with what feeds it", function()
  local graph = { op(1, "mul", "pointwise", { x }, { 64, 1000 }),
                  op(2, "cumsum", "other", { tensor("op:1", 64, 1000) }, { 64, 1000 }, {}, { cumulative = true }) }
  local t = model.times(graph, rates)
  near(t.compile, 2 * n)
  near(t.eager, 2 * n + 2 * n / model.reached.scan)
end)

check.test("products do not reach the published rate; an empty graph has no time", function()
  local one = op(1, "mm", "matmul", { x, x }, { 64, 64 })
  one.flops = 1e9
  local t = model.times({ one }, { launch = 0.0, dram = 1e30, fp32 = 1e9 })
  near(t.eager, 1 / model.reached.matmul)
  check.equal(next(model.times({}, rates)), nil)
end)

return check.done()
