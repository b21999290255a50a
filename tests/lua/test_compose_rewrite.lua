-- Rewrites: the same in real arithmetic, shown on random instances of small whole numbers, bit by bit; where a guard does
-- not hold nothing is rewritten; and what becomes of tasks passes the judge.

local check = dofile "tests/lua/check.lua"
local graphs = require "cawb.compose.graph"
local affine = require "cawb.compose.rewrites.affine"
local interpret = dofile "tests/lua/interpret.lua"
local index = require "cawb.compose.index"
local rewrite = require "cawb.compose.rewrite"
local tools = require "cawb.compose.operators.tools"

local seed = math.tointeger(tonumber(os.getenv "CAWB_TEST_SEED" or 7))
math.randomseed(seed)
local rounds = os.getenv "CAWB_TEST_BRIEF" and 8 or 50

-- Small whole numbers, the same for the same place of the same tensor.
local function leaves(seeds)
  return setmetatable({}, { __index = function(_, source)
    local salt = seeds[source] or #source
    return function(n) return (n * 7919 + salt * 104729 + (n * n) % 31) % 9 - 4 end
  end })
end

local function leaf(g, name, ...)
  local shape = { ... }
  return g:node { kind = "leaf", source = name, shape = shape, dtype = "float64", strides = graphs.contiguous(shape) }
end

-- What `build` makes, twice: once as it is and once rewritten. Returns the steps.
local function same(build, dims)
  local function made(change)
    local g = graphs.new()
    g.outputs = { build(g, dims) }
    local steps = change and rewrite.apply(g:clean()) or {}
    return interpret(g:clean(), leaves {}), steps
  end
  local want, _ = made(false)
  local got, steps = made(true)
  for k, values in ipairs(want) do
    for i, v in ipairs(values) do
      assert(got[k][i] == v, ("output %d, element %d: %s, want %s (seed %d)"):format(k, i, tostring(got[k][i]), tostring(v), seed))
    end
  end
  return steps
end

local random = math.random

-- 2^k: quotients by it are exact.
local function power() return 1 << random(0, 3) end

local function rule(what, draw, build, name)
  check.test(what, function()
    local matched = 0
    for _ = 1, rounds do
      local steps = same(build, draw())
      for _, s in ipairs(steps) do matched = matched + (s.rule == (name or "sum") and 1 or 0) end
    end
    assert(matched >= rounds // 2, ("matched %d times of %d (seed %d)"):format(matched, rounds, seed))
  end)
end

local function mean(g, x, axes)
  local n = 1
  for d in pairs(axes) do n = n * x.shape[d] end
  return g:map("A / B", "float64", { g:reduce("sum", x, axes), g:fill(n, {}, "float64") })
end

-- How many elements a set of axes has: a power of two, in what follows.
local function power_of(x, axes)
  local n = 1
  for d in pairs(axes) do n = n * x.shape[d] end
  return n
end

-- ---- products

local function product(g, d)
  return g:node { kind = "product", inputs = { leaf(g, "input:1", d.m, d.k), leaf(g, "param:w", d.k, d.n), leaf(g, "param:b", d.n) },
                  shape = { d.m, d.n }, dtype = "float64" }
end

local function matrix() return { m = 4 * power(), n = 4 * power(), k = random(1, 9), which = random(3) } end

rule("a sum over rows, columns or all of a product", matrix, function(g, d)
  return g:reduce("sum", product(g, d), d.which == 3 and { true, true } or { [d.which] = true })
end)

rule("a mean of what is affine in products", matrix, function(g, d)
  local p, q = product(g, d), g:node { kind = "product", inputs = { leaf(g, "input:2", d.m, 3), leaf(g, "input:3", 3, d.n) },
                                        shape = { d.m, d.n }, dtype = "float64" }
  return mean(g, g:map("(A - C) * B + D * 2.0f", "float64", { p, g:fill(3, {}, "float64"), leaf(g, "input:4", d.n), q }), { [2] = true })
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
end, "part")

local function factor(g, name, m, n) return leaf(g, name, 2, m, n) end

local function multiplied(g, a, b)
  return g:node { kind = "product", inputs = { a, b }, shape = { 2, a.shape[2], b.shape[3] }, dtype = "float64" }
end

rule("three factors in the order that is less work", function()
  local narrow, wide = random(1, 3), random(8, 12)
  return random(2) == 1 and { wide, narrow, wide, narrow, left = true } or { narrow, wide, narrow, wide, left = false }
end, function(g, d)
  local a, b, c = factor(g, "input:1", d[1], d[2]), factor(g, "input:2", d[2], d[3]), factor(g, "param:w", d[3], d[4])
  if d.left then return multiplied(g, multiplied(g, a, b), c) end
  return multiplied(g, a, multiplied(g, b, c))
end, "chain")

-- ---- shifts that cancel

-- x less its mean, as norms have it, times what the deviations are summed to.
local function centred(g, x, axes)
  local sum = g:reduce("sum", x, axes)
  local middle = g:map("A / B", "float64", { g:kept(sum, x, axes), g:fill(power_of(x, axes), {}, "float64") })
  local squares = g:reduce("sum", g:map("__fsub_rn(A, B) * __fsub_rn(A, B)", "float64", { x, middle }), axes, true)
  return g:map("__fsub_rn(A, B) * (C + 2.0f)", "float64", { x, middle, squares })
end

local function softmax(g, x, axes)
  local e = g:map("expf(A - B)", "float64", { x, g:reduce("max", x, axes, true) })
  return g:map("A / B", "float64", { e, g:reduce("sum", e, axes, true) })
end

-- A constant for each of what stays; ahead of it, and behind, something that does not matter.
local function constant(g, d)
  local shape = { 1, 1, 1 }
  for k = 1, 3 do shape[k] = d.axes[k] and 1 or d.shape[k] end
  return leaf(g, "param:c", table.unpack(shape))
end

local function rows()
  local d = { shape = { 1 << random(2), 1 << random(2), 1 << random(2) }, axes = {}, how = random(5) }
  d.axes[random(3)], d.axes[random(3)] = true, true
  return d
end

rule("a constant ahead of what takes the mean away", rows, function(g, d)
  local x, c = leaf(g, "input:1", table.unpack(d.shape)), constant(g, d)
  local y = ({ "A + B", "A - B", "B + A", "A * A + B", "(A - 2.0f) * A + B" })[d.how]
  x = d.how == 3 and g:map("A + B", "float64", { c, x }) or d.how > 3 and g:map(y:gsub("B", "C"), "float64", { x, x, c }) or g:map(y, "float64", { x, c })
  x = g:map("A * B", "float64", { x, d.how == 1 and constant(g, d) or g:fill(3, {}, "float64") })
  return centred(g, x, d.axes)
end, "shift")

rule("a number ahead of a softmax", rows, function(g, d)
  return softmax(g, g:map("A + B", "float64", { leaf(g, "input:1", table.unpack(d.shape)), g:fill(random(9), {}, "float64") }), d.axes)
end, "shift")

rule("a bias of a product ahead of a mean over rows, in another shape", matrix, function(g, d)
  return g:reshape(centred(g, g:reshape(product(g, d), { d.m // 4, 4, d.n }), { true, true }), { d.m, d.n })
end, "shift")

-- ---- means of what a norm makes

local texts = { "__fsub_rn(A, B) * (C + 2.0f)", "__fsub_rn(A, B) * C * D + E", "(__fmul_rn(__fsub_rn(A, B), C) - __fmul_rn(D, C))" }

-- A norm over `axes` of x, from its own mean and whatever scale.
local function norm(g, x, axes, how, weighted)
  local sum = g:reduce("sum", x, axes)
  local middle = g:map("A / B", "float64", { g:kept(sum, x, axes), g:fill(power_of(x, axes), {}, "float64") })
  local scale = g:map("A - B", "float64", { g:reduce("max", x, axes, true), middle })
  local rest = how == 3 and g:map("A - B", "float64", { middle, middle }) or weighted
  return g:map(texts[how], "float64", { x, middle, scale, how > 1 and rest or nil, how == 2 and weighted or nil }), scale
end

local function channels(g, x) return g:reshape(leaf(g, "param:w", x.shape[2]), { 1, x.shape[2], 1 }) end

rule("a mean of what a norm makes, over as much as its own mean, less, or more", function()
  local d = rows()
  d.over, d.how, d.shape[3] = {}, random(3), 1 << random(2)
  d.axes = ({ { [3] = true }, { true, [3] = true }, { [2] = true, [3] = true } })[random(3)]
  d.over[3], d.over[2] = true, random(2) == 1 or nil
  return d
end, function(g, d)
  local x = leaf(g, "input:1", table.unpack(d.shape))
  x = g:map("A * A", "float64", { x })
  local y = norm(g, x, d.axes, d.how, channels(g, x))
  return mean(g, y, d.over), y
end, "normed")

rule("a mean of what a norm of groups makes", function() return { c = 1 << random(0, 2), each = 1 << random(0, 2), s = 1 << random(2), how = random(3) } end,
  function(g, d)
    local x = g:map("A * A", "float64", { leaf(g, "input:1", 2, d.c * d.each, d.s) })
    local wide = g:reshape(x, { 2, d.c, d.each * d.s })
    local sum = g:reduce("sum", wide, { [3] = true })
    local middle = g:map("A / B", "float64", { sum, g:fill(d.each * d.s, {}, "float64") })
    local function each(v)
      return g:reshape(g:broadcast(g:reshape(v, { 2, d.c, 1 }), { 2, d.c, d.each }), { 2, d.c * d.each, 1 })
    end
    local lost = d.how == 3 and g:map("A - B", "float64", { each(middle), each(middle) }) or channels(g, x)
    local y = g:map(texts[d.how], "float64", { x, each(middle), each(g:reduce("max", wide, { [3] = true })), d.how > 1 and lost or nil,
                                               d.how == 2 and channels(g, x) or nil })
    return mean(g, y, { [3] = true })
  end, "normed")

check.test("what is left of a norm's own mean is its bias, and a NaN is one still", function()
  for _, value in ipairs { 3, 0 / 0 } do
    local g = graphs.new()
    local x = g:map("A * B", "float64", { leaf(g, "input:1", 1, 2, 4), leaf(g, "input:2", 1, 2, 1) })
    g.outputs = { mean(g, (norm(g, x, { [3] = true }, 2, channels(g, x))), { [3] = true }) }
    check.equal(rewrite.apply(g:clean())[1].rule, "normed")
    local got = interpret(g:clean(), setmetatable({ ["input:2"] = function(n) return n == 0 and value or 1 end, ["param:w"] = function() return 5 end },
      { __index = leaves {} }))[1]
    check.equal(got[2], 5)
    assert(value == 3 and got[1] == 5 or value ~= 3 and got[1] ~= got[1], tostring(got[1]))
  end
end)

-- A norm over `axes` that split.lua takes by parts, and a mean of it over fewer: rewritten, and then split.
check.test("a norm's mean by parts, and further means of the same elements from the same parts", function()
  local split, shared = require "cawb.compose.split", 0
  for _ = 1, rounds do
    local c, each, s, how = 1 << random(0, 2), 1 << random(0, 2), 8 << random(0, 2), random(2)
    local function build(change)
      local g = graphs.new()
      local x = g:map("A * 3.0f", "float64", { leaf(g, "input:1", 4, c * each, s) })
      local y = how == 1 and g:reshape(x, { 4, c, each * s }) or x
      local sums, middle = tools.squared_distances(g, y, how == 1 and { [3] = true } or { true, [3] = true })
      local function wide(v)
        if how == 2 then return v end
        return g:reshape(g:broadcast(g:reshape(v, { 4, c, 1 }), { 4, c, each }), { 4, c * each, 1 })
      end
      g.outputs = { mean(g, g:map("__fsub_rn(A, B) * C", "float64", { x, wide(middle), wide(sums) }), { [3] = true }) }
      g:clean()
      if change then
        rewrite.apply(g)
        split.long(g, { least = 4 })
      end
      local reads = 0
      for _, node in ipairs(g.nodes) do
        if node.kind == "reduce" and graphs.numel(node.inputs[1].shape) == graphs.numel(x.shape) then reads = reads + 1 end
      end
      return interpret(g, leaves {}), reads
    end
    local want, got, reads = build(false), build(true)
    for i, v in ipairs(want[1]) do assert(got[1][i] == v, ("element %d: %s, want %s (seed %d)"):format(i, got[1][i], v, seed)) end
    shared = shared + (reads == 3 and 1 or 0)          -- the sums of parts, of distances in them, and of their squares
  end
  assert(shared >= rounds // 2, ("%d of %d (seed %d)"):format(shared, rounds, seed))
end)

-- ---- zeros by construction

local made = require "cawb.compose.operators.diagonal"

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

-- Sizes of results as PyTorch has them.
local function conv(g, d)
  local x = leaf(g, "input:1", 2, d.groups * 2, table.unpack(d.size))
  local outs = d.groups * d.outs
  local w = d.transposed and leaf(g, "param:w", d.groups * 2, d.outs, table.unpack(d.taps)) or leaf(g, "param:w", outs, 2, table.unpack(d.taps))
  local shape = { 2, outs }
  for k, n in ipairs(d.size) do
    local reach = d.dilation[k] * (d.taps[k] - 1)
    shape[k + 2] = d.transposed and (n - 1) * d.stride[k] - 2 * d.padding[k] + reach + 1
      or (n + 2 * d.padding[k] - reach - 1) // d.stride[k] + 1
  end
  local c = { dims = #d.size, groups = d.groups, transposed = d.transposed, stride = d.stride, padding = d.padding,
              dilation = d.dilation, taps = d.taps, output_padding = { 0, 0, 0 } }
  return g:node { kind = "conv", inputs = { x, w, leaf(g, "param:b", outs) }, shape = shape, dtype = "float64", conv = c }
end

local function geometry()
  local d = { groups = random(2), outs = random(2), transposed = random(2) == 1, size = {}, taps = {}, stride = {}, padding = {},
              dilation = {}, axes = {} }
  for k = 1, random(2) do
    d.taps[k], d.dilation[k], d.padding[k] = random(3), random(2), random(0, 2)
    d.stride[k] = d.transposed and random(3) or 1
    local reach = d.dilation[k] * (d.taps[k] - 1)
    d.padding[k] = math.min(d.padding[k], reach // 2)          -- so that something is left
    d.size[k] = reach + random(2, 6)
    d.axes[k + 2] = (k == 1 or random(2) == 1) or nil
  end
  return d
end

-- What a batch norm of a module in eval is written as.
local function normed(g, x, d, how, name)
  local shape = {}
  for e in ipairs(x.shape) do shape[e] = e == d and x.shape[d] or 1 end
  local function vector(k) return g:reshape(leaf(g, (name or "param:") .. k, x.shape[d]), shape) end
  local text = ({ "* C", "* C * D", "* C + D", "* C * D + E" })[how]
  local operands = { x, vector "mean", vector "rstd", vector "third", vector "fourth" }
  return g:map("__fsub_rn(A, B) " .. text, "float64", { table.unpack(operands, 1, ({ 3, 4, 4, 5 })[how]) })
end

rule("a batch norm whose statistics are parameters, behind a convolution", function()
  local d = geometry()
  d.how, d.own = random(4), random(2) == 1
  return d
end, function(g, d)
  local x = conv(g, d)
  if d.own then
    local bias = table.remove(x.inputs)
    local ones = { 1, x.shape[2] }
    for e = 3, #x.shape do ones[e] = 1 end
    x.own, x = true, g:map("A + B", "float64", { x, g:reshape(bias, ones) })
  end
  return normed(g, x, 2, d.how)
end, "fold")

rule("a batch norm whose statistics are parameters, behind a product", function()
  local d = matrix()
  d.how = random(4)
  return d
end, function(g, d) return normed(g, product(g, d), 2, d.how) end, "fold")

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
end, "one")

-- ---- guards

local function kept(what, build)
  check.test("nothing is rewritten: " .. what, function()
    check.equal(#same(build, { m = 8, n = 8, k = 5 }), 0)
  end)
end

kept("a row and a column that are shown of a product", function(g, d)
  local p = g:node { kind = "product", inputs = { leaf(g, "input:1", d.m, d.k), leaf(g, "input:2", d.k, d.n) }, shape = { d.m, d.n }, dtype = "float64" }
  return g:view(p, { d.n }, function(i) return { index.const(0), i[1] } end), g:view(p, { d.m }, function(i) return { i[1], index.const(0) } end)
end)
kept("what is no sum", function(g, d) return g:reduce("max", product(g, d), { [2] = true }) end)
kept("a product that is read by others", function(g, d)
  local p = product(g, d)
  return g:reduce("sum", p, { [2] = true }), p
end)
kept("what is not affine", function(g, d) return g:reduce("sum", g:map("A * A", "float64", { product(g, d) }), { [2] = true }) end)
kept("two products with each other", function(g, d)
  return g:reduce("sum", g:map("A * B", "float64", { product(g, d), product(g, d) }), { [2] = true })
end)
kept("few rows share the sum", function(g, d)
  d.m = 3
  return g:reduce("sum", product(g, d), { [2] = true })
end)
kept("a part of what a view shows", function(g, d)
  local p = product(g, d)
  return g:reduce("sum", g:view(p, { d.m, 3 }, function(i) return i end), { [2] = true })
end)
kept("strided results of a convolution", function(g)
  return g:reduce("sum", conv(g, { groups = 1, outs = 1, transposed = false, size = { 9, 9 }, taps = { 3, 3 }, stride = { 2, 2 },
    padding = { 0, 0 }, dilation = { 1, 1 } }), { [3] = true })
end)

local function chain(g, between, ...)
  local m = { ... }
  local p = multiplied(g, factor(g, "input:1", m[1], m[2]), factor(g, "input:2", m[2], m[3]))
  return multiplied(g, between(p), factor(g, "param:w", m[3], m[4])), p
end
local function itself(p) return p end
kept("three factors whose order is the better one, or nearly", function(g) return (chain(g, itself, 2, 9, 2, 9)) end)
kept("three factors of one size", function(g) return (chain(g, itself, 9, 9, 9, 9)) end)
kept("a product of two that others read", function(g)
  local all, p = chain(g, itself, 9, 2, 9, 2)
  return g:map("A + B", "float64", { all, g:broadcast(g:reduce("max", p, { [3] = true }, true), { 2, 9, 2 }) })
end)
kept("factors with something between them", function(g)
  return (chain(g, function(p) return g:map("A * A", "float64", { p }) end, 9, 2, 9, 2))
end)
kept("a square of a product", function(g)
  local p = multiplied(g, factor(g, "input:1", 9, 2), factor(g, "input:2", 2, 9))
  return multiplied(g, p, p)
end)

kept("a diagonal of other dimensions than rows and columns", function(g)
  local a = diagonal(g, "input:1", { 3, 3, 3 }, { offset = 0, dim1 = -2, dim2 = -1 })
  a.diagonal.b = 1
  return times(g, a, leaf(g, "input:2", 3, 3, 4))
end)
kept("a diagonal that is shown in another way", function(g)
  local a = diagonal(g, "input:1", { 4, 4 }, { offset = 0 })
  return times(g, g:view(a, { 4, 4 }, function(i) return { i[1], index.plus(index.scale(i[2], -1), 3) } end), leaf(g, "input:2", 4, 4))
end)
kept("zeros that data may have", function(g, d) return product(g, d) end)
kept("one block", function(g) return times(g, blocks(g, { { 3, 4 } }), leaf(g, "input:1", 4, 5)) end)
kept("many blocks of unlike sizes", function(g)
  local sizes = {}
  for k = 1, 9 do sizes[k] = { k % 2 + 1, 2 } end
  return times(g, blocks(g, sizes), leaf(g, "input:1", 18, 5))
end)

-- Each guard of a norm's mean, violated once.
local function squares(g) return g:map("A * A", "float64", { leaf(g, "input:1", 4, 2, 8) }) end
kept("a mean of what is no norm", function(g)
  local x = squares(g)
  return mean(g, g:map("A * B", "float64", { x, channels(g, x) }), { [3] = true })
end)
kept("the largest of what a norm makes", function(g)
  local x = squares(g)
  return g:reduce("max", (norm(g, x, { [3] = true }, 1)), { [3] = true })
end)
kept("a mean where all operands differ", function(g)
  local x = squares(g)
  return mean(g, g:map("A * B", "float64", { (norm(g, x, { [3] = true }, 1)), leaf(g, "param:w", 8) }), { [3] = true })
end)
kept("a mean of what is not affine in the norm's input", function(g)
  local x = squares(g)
  local _, scale = norm(g, x, { [3] = true }, 1)
  return mean(g, g:map("A * A * B", "float64", { x, scale }), { [3] = true }), g:reduce("sum", x, { [3] = true })
end)

-- Each guard of weights that a norm goes into, violated once.
kept("a norm whose statistics are inputs", function(g, d) return normed(g, product(g, d), 2, 4, "input:") end)
kept("a norm of rows", function(g, d) return normed(g, product(g, d), 1, 4) end)
kept("a norm of what others read", function(g, d)
  local p = product(g, d)
  return g:map("A + B", "float64", { normed(g, p, 2, 4), p })
end)
kept("a norm of what is shown", function(g, d)
  local p = product(g, d)
  return normed(g, p, 2, 4), p
end)
kept("a norm behind two inputs multiplied", function(g, d)
  local p = product(g, d)
  p.inputs[2] = leaf(g, "input:2", d.k, d.n)
  return normed(g, p, 2, 4)
end)
kept("a norm behind something between", function(g, d) return normed(g, g:map("A * A", "float64", { product(g, d) }), 2, 4) end)

-- Each guard of a shift, violated once.
local function ahead(g, c, axes, text)
  local x = g:map(text or "A + B", "float64", { leaf(g, "input:1", 4, 8), c })
  return centred(g, x, axes or { [2] = true }), x
end
kept("what is added differs along the mean", function(g) return (ahead(g, leaf(g, "param:c", 8))) end)
kept("what is added is an input", function(g) return (ahead(g, leaf(g, "input:2", 4, 1))) end)
kept("what is added follows from an input", function(g)
  return (ahead(g, g:map("A * B", "float64", { leaf(g, "param:c", 4, 1), leaf(g, "input:2", 4, 1) })))
end)
kept("what is added is shown", function(g) return ahead(g, leaf(g, "param:c", 4, 1)) end)
kept("what is multiplied", function(g) return (ahead(g, leaf(g, "param:c", 4, 1), nil, "A * B")) end)
kept("a sum that others read", function(g)
  local y, x = ahead(g, leaf(g, "param:c", 4, 1))
  return g:map("A + B", "float64", { y, x })
end)
kept("a sum in something else than a difference", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 8), leaf(g, "param:c", 4, 1) })
  return g:map("A * B", "float64", { x, g:reduce("max", x, { [2] = true }, true) })
end)
kept("a mean of fewer elements than it is divided by", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 8), leaf(g, "param:c", 4, 1) })
  return g:map("A - B / 16.0f", "float64", { x, g:reduce("sum", x, { [2] = true }, true) })
end)
kept("a mean of other rows than it is taken from", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 4), leaf(g, "param:c", 4, 1) })
  local top = g:reduce("max", x, { [2] = true })
  return g:map("A - B", "float64", { x, g:broadcast(top, { 4, 4 }) })
end)
kept("a shift behind something that is none", function(g)
  local x = g:map("A * A", "float64", { g:map("A + B", "float64", { leaf(g, "input:1", 4, 8), leaf(g, "param:c", 4, 1) }) })
  return centred(g, x, { [2] = true })
end)
kept("a largest and a mean of what differs along them", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 8), leaf(g, "param:c", 8) })
  return g:map("A - B / 8.0f", "float64", { g:reduce("max", x, { [2] = true }), g:reduce("sum", x, { [2] = true }) })
end)
kept("a reader that computes in another type", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 8), leaf(g, "param:c", 4, 1) })
  return g:map("A - B", "float64", { x, g:reduce("max", x, { [2] = true }, true) }, "float32")
end)
kept("a shift in a function", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 8), leaf(g, "param:c", 4, 1) })
  return g:map("fabsf(A)", "float64", { x })
end)
kept("what is padded", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 7), leaf(g, "param:c", 4, 1) })
  x = g:view(x, { 4, 8 }, function(i) return i end, function(i) return { index.plus(index.scale(i[2], -1), 6) } end, 0)
  return centred(g, x, { [2] = true })
end)
kept("numbers of another type", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 8), leaf(g, "param:c", 4, 1) }, "float32")
  return centred(g, x, { [2] = true })
end)

check.test("what is affine, and what is not", function()
  for _, text in ipairs { "A", "A * 0.5f", "(A - B) * C + D", "-A / B", "2.0f - (A + C) * (B - D)", "A * B / 3.0f + C", "B * 1e-5f" } do
    assert(affine.is(text, { A = true, C = text:find "A %+ C" and true or nil }), text)
  end
  for _, text in ipairs { "A * A", "B / A", "expf(A)", "(A > 0.0f ? A : 0.0f)", "A * (B + A)", "A B", "fabsf(A)", "A +", "sqrtf(B) * A" } do
    assert(not affine.is(text, { A = true }), text)
  end
end)

-- ---- as tasks

local composed = dofile "tests/lua/composed.lua"

local function right(forward, inputs, setup, steps)
  check.test("rewritten, and right: " .. forward, function()
    local made = composed.right(forward, inputs, setup, { arch = "sm_90a" })
    local words = {}
    for i, s in ipairs(made.rewrites) do words[i] = s.rule end
    check.equal(table.concat(words, " "), steps)
  end)
end

right("return F.gelu(torch.logsumexp((self.c(x) - y).mean(1, keepdim=True), 1, keepdim=True)) + x", "[torch.rand(20, 64), torch.rand(48)]",
  "self.c = nn.Linear(64, 48)", "one one sum")
right("return torch.tanh(torch.softmax(self.c(x).mean(dim=2, keepdim=True) + y, dim=1)) * 2",
  "[torch.rand(2, 3, 8, 6, 7), torch.randn(1, 8, 1, 1, 1)]", "self.c = nn.ConvTranspose3d(3, 8, 3, padding=1)", "sum")
right("return torch.sigmoid(F.avg_pool2d(self.c(x), 4)).sum(dim=[1, 2, 3])", "[torch.rand(2, 3, 22, 27)]", "self.c = nn.Conv2d(3, 8, 3)", "sum")
right("return F.avg_pool2d(self.c(x), 2)", "[torch.rand(1, 64, 18, 18)]", "self.c = nn.Conv2d(64, 64, 3)", "sum")
right("return torch.bmm(x, y)[:, -1] * 2", "[torch.rand(4, 3, 5), torch.rand(4, 5, 40)]", nil, "part")
right("return torch.bmm(x, y)[:, 1:, 2]", "[torch.rand(4, 30, 70), torch.rand(4, 70, 40)]", nil, "part")
right("return x @ y @ x", "[torch.randn(64, 7), torch.randn(7, 64)]", nil, "chain")
right("return x @ (y @ self.w)", "[torch.randn(3, 40), torch.randn(40, 33)]", "self.w = nn.Parameter(torch.randn(33, 50))", "chain")
right("return F.avg_pool2d(self.c(torch.relu(x)), 2)", "[torch.randn(2, 8, 9, 18)]", "self.c = nn.Conv2d(8, 24, 1)", "sum")
right("return F.avg_pool2d(self.c(x), 2)", "[torch.randn(2, 32, 6, 8)]", "self.c = nn.Conv2d(32, 6, 1)", "")      -- the results are fewer

right("return torch.diag(x) @ y", "[torch.randn(40), torch.randn(40, 33)]", nil, "diagonal")
right("return x @ torch.diag_embed(y, 1)", "[torch.randn(3, 7, 20), torch.randn(3, 19)]", nil, "diagonal")
right("return torch.block_diag(x, y) @ z", "[torch.randn(8, 12), torch.randn(5, 9), torch.randn(21, 30)]", nil, "diagonal")
right("return x @ torch.block_diag(*self.b)", "[torch.randn(20, 64)]", "self.b = nn.Parameter(torch.randn(4, 16, 24))", "diagonal")
right("return self.n(self.c(x)).mean((1, 2, 3))", "[torch.rand(4, 3, 20, 21)]", "self.c, self.n = nn.Conv2d(3, 12, 3), nn.GroupNorm(4, 12)", "normed")
right("return self.n(self.c(x) * 2).mean((2, 3))", "[torch.rand(4, 3, 20, 21)]", "self.c, self.n = nn.Conv2d(3, 12, 3), nn.BatchNorm2d(12)", "normed shift")
right("return F.layer_norm(x, [20, 21]).mean((2, 3))", "[torch.rand(4, 12, 20, 21)]", nil, "normed")
right("return self.n(self.c(x))", "[torch.rand(2, 24, 9, 8)]", "self.c, self.n = nn.Conv2d(24, 40, 3), nn.BatchNorm2d(40).eval()", "fold")
right("return torch.relu(self.n(self.c(x)))", "[torch.rand(2, 12, 5, 8)]", "self.c, self.n = nn.ConvTranspose2d(12, 8, 3, groups=2, bias=False), nn.BatchNorm2d(8, affine=False).eval()", "fold")
right("return self.n(self.c(x))", "[torch.randn(30, 24)]", "self.c, self.n = nn.Linear(24, 40), nn.BatchNorm1d(40).eval()", "fold")
right("return self.n(self.c(x) * self.s)", "[torch.randn(64, 24)]", "self.c, self.n, self.s = nn.Linear(24, 40), nn.BatchNorm1d(40), nn.Parameter(torch.randn(40))", "shift")
right("return F.instance_norm(self.c(x))", "[torch.randn(2, 4, 12, 13)]", "self.c = nn.Conv2d(4, 24, 3)", "shift")
right("y = self.n(self.c(x))\nreturn y - y.mean((2, 3, 4), keepdim=True)", "[torch.rand(2, 3, 4, 5, 6)]", "self.c, self.n = nn.ConvTranspose3d(3, 8, 3), nn.BatchNorm3d(8)", "normed shift")
right("return torch.softmax(x + self.s, 1) + torch.log_softmax(2 * x - 3, 0)", "[torch.randn(30, 50)]", "self.s = nn.Parameter(torch.randn(30, 1))", "shift shift")
right("return F.layer_norm(self.c(x) + self.s, [40])", "[torch.randn(64, 24)]", "self.c, self.s = nn.Linear(24, 40), nn.Parameter(torch.randn(64, 1))", "shift")
right("return torch.softmax(self.c(x), 1)", "[torch.randn(64, 24)]", "self.c = nn.Linear(24, 40)", "")       -- the bias differs along the rows

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

check.test("a tensor is gone through once for a norm's mean and for a mean of what the norm makes", function()
  for _, forward in ipairs { "return F.group_norm(torch.relu(x), 4).mean((2, 3))", "return F.batch_norm(torch.relu(x), None, None, training=True).mean((2, 3))" } do
    local made = composed.right(forward, "[torch.randn(2, 8, 64, 65)]", nil, { arch = "sm_90a" })
    local _, reads = made.plan:gsub("launch%([^\n]*inputs%[1%]", "")
    check.equal(reads, 1, made.plan)
  end
end)

check.test("without rewrites nothing is rewritten", function()
  local made = assert(composed.make("return self.c(x).mean(1)", "[torch.rand(30, 19)]", "self.c = nn.Linear(19, 27)", { rewrite = false }))
  check.equal(#made.rewrites, 0)
  assert(made.plan:find "gemm", made.plan)
end)

return check.done()
