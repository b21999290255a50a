-- Rewrites of sums, products and what has zeros by construction: the same in real arithmetic, shown on random instances, bit by bit; where a
-- guard does not hold nothing is rewritten; and what becomes of tasks passes the judge.

local rewritten = dofile "tests/compose/rewritten.lua"
local check = rewritten.check
local index = require "cawb.compose.ir.index"

local leaf, rule, mean, product, matrix, conv = rewritten.leaf, rewritten.rule, rewritten.mean, rewritten.product, rewritten.matrix, rewritten.conv
local geometry, unchanged = rewritten.geometry, rewritten.unchanged
local random = math.random

-- ---- products

rule("a sum over rows, columns or all of a product", matrix, function(g, d)
  return g:reduce("sum", product(g, d), d.which == 3 and { true, true } or { [d.which] = true })
end)

rule("a mean of what is affine in products", matrix, function(g, d)
  local p, q = product(g, d), g:node { kind = "product", inputs = { leaf(g, "input:2", d.m, 3), leaf(g, "input:3", 3, d.n) },
                                        shape = { d.m, d.n }, dtype = "float64" }
  return mean(g, g:map("(A - C) * B + D * 2.0", "float64", { p, g:fill(3, {}, "float64"), leaf(g, "input:4", d.n), q }), { [2] = true })
end)

rule("through views: other orders, other shapes, repeated", matrix, function(g, d)
  local p = g:reshape(product(g, d), { d.m // 4, 4, d.n })
  local turned = g:permute(p, { 3, 1, 2 })
  local wide = g:broadcast(g:reshape(turned, { d.n, 1, d.m // 4, 4 }), { d.n, 2, d.m // 4, 4 })
  local axes = ({ { [1] = true }, { [3] = true, [4] = true }, { [1] = true, [2] = true } })[d.which]
  return g:reduce("sum", wide, axes)
end)

rule("one row, column or matrix that is shown of a product", function()
  local d = matrix()
  d.at = random(0, 2)
  return d
end, function(g, d)
  local x = g:node { kind = "product", inputs = { leaf(g, "input:1", 3, d.m, d.k), leaf(g, "input:2", 3, d.k, d.n) }, shape = { 3, d.m, d.n }, dtype = "float64" }
  local shape = { 3, d.m, d.n }
  table.remove(shape, d.which)
  return g:view(x, shape, function(i)
    local j = { i[1], i[2] }
    table.insert(j, d.which, index.const(d.at))
    return j
  end)
end, "product_slice")

-- Products of a tensor with matrices of parameters, one behind the other in one tensor of results.
local function several(g, d, factor)
  local x, parts, width = leaf(g, "input:1", 2, d.m, d.k), {}, 0
  for k = 1, d.count do
    local flat = factor and factor(g, k, x) or g:reshape(x, { 2 * d.m, d.k })
    local w = g:permute(leaf(g, "param:w" .. k, d.n + k, d.k), { 2, 1 })
    parts[k] = g:node { kind = "product", inputs = { flat, w, d.bias[k] and leaf(g, "param:b" .. k, d.n + k) or nil }, shape = { 2 * d.m, d.n + k }, dtype = "float64" }
    width = width + d.n + k
  end
  return g:concatenate(parts, 2, { 2 * d.m, width })
end

local function projections() return { m = random(4), k = random(9), n = random(5), count = random(2, 4), bias = { random(2) == 1, random(2) == 1, true, random(2) == 1 } } end

rule("products of one tensor with several matrices", projections, several, "one_factor")

check.test("products of different tensors, of views that differ, or with a matrix of inputs, stay apart", function()
  for _, factor in ipairs {
    function(g, k) return leaf(g, "input:" .. k + 1, 8, 5) end,
    function(g, k, x) return g:view(x, { 8, 5 }, function(i) return { index.const(k % 2), index.div(i[1], 2), i[2] } end) end,
  } do
    local d = { m = 4, k = 5, n = 3, count = 2, bias = {} }
    check.equal(#rewritten.same(function(g) return several(g, d, factor) end, d), 0)
  end
  check.equal(#rewritten.same(function(g)
    local x, list = leaf(g, "input:1", 4, 5), {}
    for k = 1, 2 do list[k] = g:node { kind = "product", inputs = { x, leaf(g, "input:" .. k + 1, 5, 3) }, shape = { 4, 3 }, dtype = "float64" } end
    return g:concatenate(list, 1, { 8, 3 })
  end, {}), 0)
end)

-- ---- zeros by construction

local made = require "cawb.compose.operators.copies"

local function diagonal(g, name, shape, args)
  local ahead = { table.unpack(shape, 1, #shape - 2) }
  local offset = args.offset
  ahead[#ahead + 1] = math.min(shape[#shape - 1] + math.min(offset, 0), shape[#shape] - math.max(offset, 0))
  return made.diag_embed(g, { x = { leaf(g, name, table.unpack(ahead)) }, out = { { shape = shape } }, args = args })[1]
end

local function times(g, a, b, bias)
  local shape = { table.unpack(a.shape) }
  shape[#shape] = b.shape[#shape]
  return g:node { kind = "product", inputs = { a, b, bias }, shape = shape, dtype = "float64" }
end

rule("a diagonal factor, on the left or the right, of one matrix or many", function()
  return { n = random(5), m = random(5), offset = random(-2, 2), left = random(2) == 1, turned = random(3) == 1, many = random(2) == 1, bias = random(2) == 1 }
end, function(g, d)
  local size = d.n + math.abs(d.offset)
  local shape, other = { size, size }, d.left and { size, d.m } or { d.m, size }
  if d.many then table.insert(shape, 1, 3) table.insert(other, 1, 3) end
  local a = diagonal(g, "input:1", shape, { offset = d.offset, dim1 = d.turned and -1 or -2, dim2 = d.turned and -2 or -1 })
  local b = leaf(g, "input:2", table.unpack(other))
  local bias = d.bias and leaf(g, "param:b", d.left and d.m or size) or nil
  return d.left and times(g, a, b, bias) or times(g, b, a, bias)
end, "diagonal")

local function blocks(g, sizes)
  local list, rows, columns = {}, 0, 0
  for k, s in ipairs(sizes) do
    list[k] = leaf(g, "input:" .. k + 1, s[1], s[2])
    rows, columns = rows + s[1], columns + s[2]
  end
  return made.block_diag(g, { x = list, out = { { shape = { rows, columns }, dtype = "float64" } }, args = {} })[1]
end

rule("blocks along a diagonal, of one size or several", function()
  local d = { sizes = {}, m = random(4), left = random(2) == 1 }
  local one = random(2) == 1 and { random(3), random(3) }
  for k = 1, random(2, 4) do d.sizes[k] = one or { random(3), random(3) } end
  return d
end, function(g, d)
  local a = blocks(g, d.sizes)
  local n = a.shape[d.left and 2 or 1]
  local b = leaf(g, "input:1", table.unpack(d.left and { n, d.m } or { d.m, n }))
  return d.left and times(g, a, b) or times(g, b, a)
end, "diagonal")

-- ---- convolutions

rule("a sum over places of a convolution", geometry, function(g, d) return g:reduce("sum", conv(g, d), d.axes) end)

local function windowed()
  local d = geometry()
  d.transposed, d.window = false, {}
  for k in ipairs(d.size) do
    d.taps[k], d.dilation[k], d.padding[k], d.stride[k], d.window[k] = random(2, 3), 1, random(0, 1), 1, 1 << random(1, 2)
    d.size[k] = d.taps[k] + d.window[k] * random(2, 3)
  end
  return d
end

local function averaged(g, d)
  local x = conv(g, d)
  local out = { 2, x.shape[2] }
  for k, n in ipairs(d.window) do out[k + 2] = x.shape[k + 2] // n end
  local op = { x = { x }, out = { { shape = out, dtype = "float64" } }, args = { kernel_size = d.window, stride = d.window } }
  return require("cawb.compose.operators.pool")[#d.window == 1 and "avg_pool1d" or "avg_pool2d"](g, op)[1]
end

rule("an average over windows of a convolution", windowed, averaged)

rule("an average over windows of a convolution of one tap", function()
  local d = windowed()
  for k in ipairs(d.size) do d.taps[k], d.padding[k], d.size[k] = 1, 0, d.window[k] * random(2, 3) + random(0, 1) end
  return d
end, averaged)

rule("what joins one element", function() return { n = random(5) } end, function(g, d)
  return g:reduce("sum", g:reshape(leaf(g, "input:1", d.n), { d.n, 1 }), { [2] = true })
end, "single_element")

-- ---- guards

unchanged("a row and a column that are shown of a product", function(g, d)
  local p = g:node { kind = "product", inputs = { leaf(g, "input:1", d.m, d.k), leaf(g, "input:2", d.k, d.n) }, shape = { d.m, d.n }, dtype = "float64" }
  return g:view(p, { d.n }, function(i) return { index.const(0), i[1] } end), g:view(p, { d.m }, function(i) return { i[1], index.const(0) } end)
end)
unchanged("what is no sum", function(g, d) return g:reduce("max", product(g, d), { [2] = true }) end)
unchanged("a product that is read by others", function(g, d)
  local p = product(g, d)
  return g:reduce("sum", p, { [2] = true }), p
end)
unchanged("what is not affine", function(g, d) return g:reduce("sum", g:map("A * A", "float64", { product(g, d) }), { [2] = true }) end)
unchanged("two products with each other", function(g, d)
  return g:reduce("sum", g:map("A * B", "float64", { product(g, d), product(g, d) }), { [2] = true })
end)
unchanged("few rows share the sum", function(g, d)
  d.m = 3
  return g:reduce("sum", product(g, d), { [2] = true })
end)
unchanged("a part of what a view shows", function(g, d)
  local p = product(g, d)
  return g:reduce("sum", g:view(p, { d.m, 3 }, function(i) return i end), { [2] = true })
end)
unchanged("strided results of a convolution", function(g)
  return g:reduce("sum", conv(g, { groups = 1, outs = 1, transposed = false, size = { 9, 9 }, taps = { 3, 3 }, stride = { 2, 2 },
    padding = { 0, 0 }, dilation = { 1, 1 } }), { [3] = true })
end)

unchanged("a diagonal of other dimensions than rows and columns", function(g)
  local a = diagonal(g, "input:1", { 3, 3, 3 }, { offset = 0, dim1 = -2, dim2 = -1 })
  a.diagonal.b = 1
  return times(g, a, leaf(g, "input:2", 3, 3, 4))
end)
unchanged("a diagonal that is shown in another way", function(g)
  local a = diagonal(g, "input:1", { 4, 4 }, { offset = 0 })
  return times(g, g:view(a, { 4, 4 }, function(i) return { i[1], index.plus(index.scale(i[2], -1), 3) } end), leaf(g, "input:2", 4, 4))
end)
unchanged("zeros that data may have", function(g, d) return product(g, d) end)
unchanged("one block", function(g) return times(g, blocks(g, { { 3, 4 } }), leaf(g, "input:1", 4, 5)) end)
unchanged("many blocks of unlike sizes", function(g)
  local sizes = {}
  for k = 1, 9 do sizes[k] = { k % 2 + 1, 2 } end
  return times(g, blocks(g, sizes), leaf(g, "input:1", 18, 5))
end)

-- ---- as tasks

local composed = dofile "tests/support/composed.lua"

local function right(...) rewritten.right(composed, ...) end

right("return F.gelu(torch.logsumexp((self.c(x) - y).mean(1, keepdim=True), 1, keepdim=True)) + x", "[torch.rand(20, 64), torch.rand(48)]",
  "self.c = nn.Linear(64, 48)", "single_element single_element sum_before_product")
right("return torch.tanh(torch.softmax(self.c(x).mean(dim=2, keepdim=True) + y, dim=1)) * 2",
  "[torch.rand(2, 3, 8, 6, 7), torch.randn(1, 8, 1, 1, 1)]", "self.c = nn.ConvTranspose3d(3, 8, 3, padding=1)", "sum_before_product")
right("return torch.sigmoid(F.avg_pool2d(self.c(x), 4)).sum(dim=[1, 2, 3])", "[torch.rand(2, 3, 22, 27)]", "self.c = nn.Conv2d(3, 8, 3)", "sum_before_product")
right("return F.avg_pool2d(self.c(x), 2)", "[torch.rand(1, 64, 18, 18)]", "self.c = nn.Conv2d(64, 64, 3)", "sum_before_product")
right("return torch.bmm(x, y)[:, -1] * 2", "[torch.rand(4, 3, 5), torch.rand(4, 5, 40)]", nil, "product_slice")
right("return torch.bmm(x, y)[:, 1:, 2]", "[torch.rand(4, 30, 70), torch.rand(4, 70, 40)]", nil, "product_slice")
right("return torch.bmm(x, y)[:, -1] * 2", "[torch.rand(4, 3, 5).bfloat16(), torch.rand(4, 5, 40).bfloat16()]", nil, "product_slice")
right("return F.avg_pool2d(self.c(torch.relu(x)), 2)", "[torch.randn(2, 8, 9, 18)]", "self.c = nn.Conv2d(8, 24, 1)", "sum_before_product")
right("return F.avg_pool2d(self.c(x), 2)", "[torch.randn(2, 32, 6, 8)]", "self.c = nn.Conv2d(32, 6, 1)", "")      -- the results are fewer
right("return torch.diag(x) @ y", "[torch.randn(40), torch.randn(40, 33)]", nil, "diagonal")
right("return x @ torch.diag_embed(y, 1)", "[torch.randn(3, 7, 20), torch.randn(3, 19)]", nil, "diagonal")
right("return torch.block_diag(x, y) @ z", "[torch.randn(8, 12), torch.randn(5, 9), torch.randn(21, 30)]", nil, "diagonal")
right("return x @ torch.block_diag(*self.b)", "[torch.randn(20, 64)]", "self.b = nn.Parameter(torch.randn(4, 16, 24))", "diagonal")

check.test("what parameters alone make up is computed before the first call", function()
  local made = composed.right("return (self.c(x) * 2 - y).mean(1)", "[torch.rand(30, 19), torch.rand(27)]", "self.c = nn.Linear(19, 27)")
  local _, ahead = made.plan:gsub("prepare%(function%(params%) launch", "")
  check.equal(ahead, 2)
  local prepared = made.plan:match('prepare%(function%(params%) launch%([^\n]*params%["c.weight"%], (place%[%d+%])')
  assert(prepared, made.plan)
  local _, reads = made.plan:gsub(prepared:gsub("%p", "%%%0"), "")
  check.equal(reads, 3, "declared, written once, read once")
end)

check.test("so are a parameter's running sums, and the constants that they meet", function()
  local made = composed.right("return x * torch.exp(torch.cumsum(self.a * torch.ones(6, 6).cumsum(0), 1))", "[torch.rand(3, 6, 6)]",
    "self.a = nn.Parameter(torch.randn(6, 6))")
  local _, ahead = made.plan:gsub("prepare%(function%(params%) launch", "")
  local _, all = made.plan:gsub("launch%(", "")
  check.equal(ahead, 3, made.plan)
  check.equal(all, 4, made.plan)
end)

check.test("queries, keys and values are one product; a schedule may leave them three", function()
  local forward = "q, k, v = (f(x).view(2, 20, 2, 16).transpose(1, 2) for f in (self.q, self.k, self.v))\n"
    .. "return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(2, 20, 32) + self.p(y), self.r(y), torch.relu(self.q(y))"
  local inputs = "[torch.randn(2, 20, 32), torch.randn(2, 20, 32)]"
  local setup = "self.q, self.k, self.v, self.p, self.r = (nn.Linear(32, 32, bias=k != 1) for k in range(5))"
  local made = composed.right(forward, inputs, setup)
  local function products(m)
    local n = 0
    for _, x in ipairs(m.graph.nodes) do n = n + (x.kind == "product" and #x.shape == 2 and 1 or 0) end
    return n
  end
  check.equal(products(made), 2, "of x, and of y")
  local apart = composed.right(forward, inputs, setup, { schedule = { skip = { 1 } } })
  check.equal(products(apart), 4)
  composed.right("return self.a(x), self.b(x) * torch.sigmoid(self.c(x))", "[torch.randn(5, 48).half()]",
    "self.a, self.b, self.c = (nn.Linear(48, n).half() for n in (8, 24, 24))")
end)

check.test("a float32 product of converted numbers reads them as they are, unless it shows long sums", function()
  local narrow = { libraries = false }
  local function converted(forward, inputs)
    local made = composed.right(forward, inputs, nil, narrow)
    return #made.rewrites == 1 and made.rewrites[1].rule == "converted"
  end
  local short, long = "[torch.randn(70, 96).bfloat16(), torch.randn(40, 96).bfloat16()]", "[torch.randn(70, 300).half(), torch.randn(300, 40).half()]"
  check.equal(converted("return x.float() @ y.t().float()", short), true)
  check.equal(converted("return (x.float() @ y.float().t()).exp() * 0.5", short), true)
  check.equal(converted("return x.float() @ y.half().float().t()", short), false, "two types")
  check.equal(converted("return x.float() @ y.float()", long), false, "a long sum that is shown")
  check.equal(converted("return torch.relu((x.float() @ y.float() * 0.5).t()).half()", long), true, "a long sum that is rounded")
end)

check.test("without rewrites nothing is rewritten", function()
  local made = assert(composed.make("return self.c(x).mean(1)", "[torch.rand(30, 19)]", "self.c = nn.Linear(19, 27)", { rewrite = false }))
  check.equal(#made.rewrites, 0)
  assert(made.plan:find "gemm", made.plan)
end)

return check.done()
