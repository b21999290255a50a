-- Rewrites of norms: shifts that cancel, means of what a norm makes, batch norms that go into weights: shown as in test_compose_rewrite.lua.

local rewritten = dofile "tests/compose/rewritten.lua"
local folded = require "cawb.compose.rewrite.folded_batch_norm"
local check = rewritten.check
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local interpret = dofile "tests/compose/interpret.lua"
local rewrite = require "cawb.compose.rewrite.rewrite"
local tools = require "cawb.compose.operators.tools"

local leaves, leaf, rule, mean, power_of, product = rewritten.leaves, rewritten.leaf, rewritten.rule, rewritten.mean, rewritten.power_of, rewritten.product
local matrix, conv, geometry, unchanged, seed, rounds = rewritten.matrix, rewritten.conv, rewritten.geometry, rewritten.unchanged, rewritten.seed, rewritten.rounds
local random = math.random

-- ---- shifts that cancel

-- x less its mean, as norms have it, times what the deviations are summed to.
local function centred(g, x, axes)
  local sum = g:reduce("sum", x, axes)
  local middle = g:map("A / B", "float64", { g:keepdim(sum, x, axes), g:fill(power_of(x, axes), {}, "float64") })
  local squares = g:reduce("sum", g:map("exact(A - B) * exact(A - B)", "float64", { x, middle }), axes, true)
  return g:map("exact(A - B) * (C + 2.0)", "float64", { x, middle, squares })
end

local function softmax(g, x, axes)
  local e = g:map("exp(A - B)", "float64", { x, g:reduce("max", x, axes, true) })
  return g:map("A / B", "float64", { e, g:reduce("sum", e, axes, true) })
end

-- A constant for each of what stays; ahead of it, and behind, something that does not matter.
local function constant(g, d)
  local shape = { 1, 1, 1 }
  for k = 1, 3 do shape[k] = d.axes[k] and 1 or d.shape[k] end
  return leaf(g, "param:c", table.unpack(shape))
end

local function rows()
  local d = { shape = { 1 << random(2), 1 << random(2), 1 << random(2) }, axes = {}, how = random(9) }
  d.axes[random(3)], d.axes[random(3)] = true, true
  return d
end

-- Ways to add C.
local sums = { "X + C", "X - C", "C + X", "X * X + C", "(X - 2.0) * X + C", "C + X * Y", "X - (C + Y)", "(X * Y - C) + Y", "X * 2.0 + (C - Y * X)" }

rule("a constant ahead of what takes the mean away", rows, function(g, d)
  local x, c = leaf(g, "input:1", table.unpack(d.shape)), constant(g, d)
  x = rewritten.instance(g, sums[d.how], { X = x, C = c, Y = leaf(g, "input:2", table.unpack(d.shape)) })
  x = g:map("A * B", "float64", { x, d.how == 1 and constant(g, d) or g:fill(3, {}, "float64") })
  return centred(g, x, d.axes)
end, "cancelled_shift")

rule("a number ahead of a softmax", rows, function(g, d)
  return softmax(g, g:map("A + B", "float64", { leaf(g, "input:1", table.unpack(d.shape)), g:fill(random(9), {}, "float64") }), d.axes)
end, "cancelled_shift")

rule("a bias of a product ahead of a mean over rows, in another shape", matrix, function(g, d)
  return g:reshape(centred(g, g:reshape(product(g, d), { d.m // 4, 4, d.n }), { true, true }), { d.m, d.n })
end, "cancelled_shift")

-- ---- means of what a norm makes

local norms = { "exact(X - M) * (S + 2.0)", "exact(X - M) * S * L + B", "exact(exact(X - M) * S) - exact(L * S)" }

-- A norm over `axes` of x, from its own mean and whatever scale.
local function norm(g, x, axes, how, weighted)
  local sum = g:reduce("sum", x, axes)
  local middle = g:map("A / B", "float64", { g:keepdim(sum, x, axes), g:fill(power_of(x, axes), {}, "float64") })
  local scale = g:map("A - B", "float64", { g:reduce("max", x, axes, true), middle })
  local rest = how == 3 and g:map("A - B", "float64", { middle, middle }) or weighted
  return rewritten.instance(g, norms[how], { X = x, M = middle, S = scale, L = rest, B = weighted }), scale
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
end, "mean_of_norm")

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
    local y = rewritten.instance(g, norms[d.how], { X = x, M = each(middle), S = each(g:reduce("max", wide, { [3] = true })), L = lost,
                                                    B = channels(g, x) })
    return mean(g, y, { [3] = true })
  end, "mean_of_norm")

check.test("what is left of a norm's own mean is its bias, and a NaN is one still", function()
  for _, value in ipairs { 3, 0 / 0 } do
    local g = graphs.new()
    local x = g:map("A * B", "float64", { leaf(g, "input:1", 1, 2, 4), leaf(g, "input:2", 1, 2, 1) })
    g.outputs = { mean(g, (norm(g, x, { [3] = true }, 2, channels(g, x))), { [3] = true }) }
    check.equal(rewrite.apply(g:clean())[1].rule, "mean_of_norm")
    local got = interpret(g:clean(), setmetatable({ ["input:2"] = function(n) return n == 0 and value or 1 end, ["param:w"] = function() return 5 end },
      { __index = leaves {} }))[1]
    check.equal(got[2], 5)
    assert(value == 3 and got[1] == 5 or value ~= 3 and got[1] ~= got[1], tostring(got[1]))
  end
end)

-- A norm over `axes` that split.lua takes by parts, and a mean of it over fewer: rewritten, and then split.
check.test("a norm's mean by parts, and further means of the same elements from the same parts", function()
  local split, shared = require "cawb.compose.split.split", 0
  for _ = 1, rounds do
    local c, each, s, how = 1 << random(0, 2), 1 << random(0, 2), 8 << random(0, 2), random(2)
    local function build(change)
      local g = graphs.new()
      local x = g:map("A * 3.0", "float64", { leaf(g, "input:1", 4, c * each, s) })
      local y = how == 1 and g:reshape(x, { 4, c, each * s }) or x
      local sums, middle = tools.squared_distances(g, y, how == 1 and { [3] = true } or { true, [3] = true })
      local function wide(v)
        if how == 2 then return v end
        return g:reshape(g:broadcast(g:reshape(v, { 4, c, 1 }), { 4, c, each }), { 4, c * each, 1 })
      end
      g.outputs = { mean(g, g:map("exact(A - B) * C", "float64", { x, wide(middle), wide(sums) }), { [3] = true }) }
      g:clean()
      if change then
        rewrite.apply(g)
        split.long(g, { least = 4, chip = require("cawb.gpu.chip").named "h100" })
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

-- ---- batch norms whose statistics are parameters

-- A batch norm of a module in eval, in the rule's own patterns.
local function normed(g, x, d, how, name)
  local shape = {}
  for e in ipairs(x.shape) do shape[e] = e == d and x.shape[d] or 1 end
  local function vector(k) return g:reshape(leaf(g, (name or "param:") .. k, x.shape[d]), shape) end
  return rewritten.instance(g, folded.patterns[how], { X = x, M = vector "mean", S = vector "rstd", W = vector "third", B = vector "fourth" })
end

rule("a batch norm whose statistics are parameters, behind a convolution", function()
  local d = geometry()
  d.how, d.own = random(#folded.patterns), random(2) == 1
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
end, "folded_batch_norm")

rule("a batch norm whose statistics are parameters, behind a product", function()
  local d = matrix()
  d.how = random(#folded.patterns)
  return d
end, function(g, d) return normed(g, product(g, d), 2, d.how) end, "folded_batch_norm")

check.test("products of one tensor are joined behind the last norm that is folded, however many there are", function()
  local steps = rewritten.same(function(g)
    local x, parts = leaf(g, "input:1", 8, 5), {}
    for k = 1, 34 do
      local y = g:node { kind = "product", inputs = { x, leaf(g, "param:w" .. k, 5, 3) }, shape = { 8, 3 }, dtype = "float64" }
      parts[k] = normed(g, y, 2, 1)
    end
    return g:concatenate(parts, 2, { 8, 3 * 34 })
  end, {})
  check.equal(#steps, 35)
  check.equal(steps[34].rule, "folded_batch_norm")
  check.equal(steps[35].rule, "one_factor")
end)

-- ---- guards

-- Each guard of a norm's mean, violated once.
local function squares(g) return g:map("A * A", "float64", { leaf(g, "input:1", 4, 2, 8) }) end
unchanged("a mean of what is no norm", function(g)
  local x = squares(g)
  return mean(g, g:map("A * B", "float64", { x, channels(g, x) }), { [3] = true })
end)
unchanged("the largest of what a norm makes", function(g)
  local x = squares(g)
  return g:reduce("max", (norm(g, x, { [3] = true }, 1)), { [3] = true })
end)
unchanged("a mean where all operands differ", function(g)
  local x = squares(g)
  return mean(g, g:map("A * B", "float64", { (norm(g, x, { [3] = true }, 1)), leaf(g, "param:w", 8) }), { [3] = true })
end)
unchanged("a mean of what is not affine in the norm's input", function(g)
  local x = squares(g)
  local _, scale = norm(g, x, { [3] = true }, 1)
  return mean(g, g:map("A * A * B", "float64", { x, scale }), { [3] = true }), g:reduce("sum", x, { [3] = true })
end)

-- Each guard of weights that a norm goes into, violated once.
unchanged("a norm whose statistics are inputs", function(g, d) return normed(g, product(g, d), 2, 4, "input:") end)
unchanged("a norm of rows", function(g, d) return normed(g, product(g, d), 1, 4) end)
unchanged("a norm of what others read", function(g, d)
  local p = product(g, d)
  return g:map("A + B", "float64", { normed(g, p, 2, 4), p })
end)
unchanged("a norm of what is shown", function(g, d)
  local p = product(g, d)
  return normed(g, p, 2, 4), p
end)
unchanged("a norm behind two inputs multiplied", function(g, d)
  local p = product(g, d)
  p.inputs[2] = leaf(g, "input:2", d.k, d.n)
  return normed(g, p, 2, 4)
end)
unchanged("a norm behind something between", function(g, d) return normed(g, g:map("A * A", "float64", { product(g, d) }), 2, 4) end)

-- Each guard of a shift, violated once.
local function ahead(g, c, axes, text)
  local x = g:map(text or "A + B", "float64", { leaf(g, "input:1", 4, 8), c })
  return centred(g, x, axes or { [2] = true }), x
end
unchanged("what is added differs along the mean", function(g) return (ahead(g, leaf(g, "param:c", 8))) end)
unchanged("what is added is an input", function(g) return (ahead(g, leaf(g, "input:2", 4, 1))) end)
unchanged("what is added follows from an input", function(g)
  return (ahead(g, g:map("A * B", "float64", { leaf(g, "param:c", 4, 1), leaf(g, "input:2", 4, 1) })))
end)
unchanged("what is added is shown", function(g) return ahead(g, leaf(g, "param:c", 4, 1)) end)
unchanged("what is multiplied", function(g) return (ahead(g, leaf(g, "param:c", 4, 1), nil, "A * B")) end)
unchanged("a sum that others read", function(g)
  local y, x = ahead(g, leaf(g, "param:c", 4, 1))
  return g:map("A + B", "float64", { y, x })
end)
unchanged("a sum in something else than a difference", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 8), leaf(g, "param:c", 4, 1) })
  return g:map("A * B", "float64", { x, g:reduce("max", x, { [2] = true }, true) })
end)
unchanged("a mean of fewer elements than it is divided by", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 8), leaf(g, "param:c", 4, 1) })
  return g:map("A - B / 16.0", "float64", { x, g:reduce("sum", x, { [2] = true }, true) })
end)
unchanged("a mean of other rows than it is taken from", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 4), leaf(g, "param:c", 4, 1) })
  local top = g:reduce("max", x, { [2] = true })
  return g:map("A - B", "float64", { x, g:broadcast(top, { 4, 4 }) })
end)
unchanged("a shift behind something that is none", function(g)
  local x = g:map("A * A", "float64", { g:map("A + B", "float64", { leaf(g, "input:1", 4, 8), leaf(g, "param:c", 4, 1) }) })
  return centred(g, x, { [2] = true })
end)
unchanged("a largest and a mean of what differs along them", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 8), leaf(g, "param:c", 8) })
  return g:map("A - B / 8.0", "float64", { g:reduce("max", x, { [2] = true }), g:reduce("sum", x, { [2] = true }) })
end)
unchanged("a reader that computes in another type", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 8), leaf(g, "param:c", 4, 1) })
  return g:map("A - B", "float64", { x, g:reduce("max", x, { [2] = true }, true) }, "float32")
end)
unchanged("a shift in a function", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 8), leaf(g, "param:c", 4, 1) })
  return g:map("abs(A)", "float64", { x })
end)
unchanged("what is padded", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 7), leaf(g, "param:c", 4, 1) })
  x = g:view(x, { 4, 8 }, function(i) return i end, function(i) return { index.plus(index.scale(i[2], -1), 6) } end, 0)
  return centred(g, x, { [2] = true })
end)
unchanged("numbers of another type", function(g)
  local x = g:map("A + B", "float64", { leaf(g, "input:1", 4, 8), leaf(g, "param:c", 4, 1) }, "float32")
  return centred(g, x, { [2] = true })
end)

-- ---- as tasks

local composed = dofile "tests/support/composed.lua"

local function right(...) rewritten.right(composed, ...) end

right("return self.n(self.c(x)).mean((1, 2, 3))", "[torch.rand(4, 3, 20, 21)]", "self.c, self.n = nn.Conv2d(3, 12, 3), nn.GroupNorm(4, 12)", "mean_of_norm")
right("return self.n(self.c(x) * 2).mean((2, 3))", "[torch.rand(4, 3, 20, 21)]", "self.c, self.n = nn.Conv2d(3, 12, 3), nn.BatchNorm2d(12)", "mean_of_norm cancelled_shift")
right("return F.layer_norm(x, [20, 21]).mean((2, 3))", "[torch.rand(4, 12, 20, 21)]", nil, "mean_of_norm")
right("return self.n(self.c(x))", "[torch.rand(2, 24, 9, 8)]", "self.c, self.n = nn.Conv2d(24, 40, 3), nn.BatchNorm2d(40).eval()", "folded_batch_norm")
right("return torch.relu(self.n(self.c(x)))", "[torch.rand(2, 12, 5, 8)]", "self.c, self.n = nn.ConvTranspose2d(12, 8, 3, groups=2, bias=False), nn.BatchNorm2d(8, affine=False).eval()", "folded_batch_norm")
right("return self.n(self.c(x))", "[torch.randn(30, 24)]", "self.c, self.n = nn.Linear(24, 40), nn.BatchNorm1d(40).eval()", "folded_batch_norm")
right("return self.n(self.c(x) * self.s)", "[torch.randn(64, 24)]", "self.c, self.n, self.s = nn.Linear(24, 40), nn.BatchNorm1d(40), nn.Parameter(torch.randn(40))", "cancelled_shift")
right("return F.instance_norm(self.c(x))", "[torch.randn(2, 4, 12, 13)]", "self.c = nn.Conv2d(4, 24, 3)", "cancelled_shift")
right("y = self.n(self.c(x))\nreturn y - y.mean((2, 3, 4), keepdim=True)", "[torch.rand(2, 3, 4, 5, 6)]", "self.c, self.n = nn.ConvTranspose3d(3, 8, 3), nn.BatchNorm3d(8)", "mean_of_norm cancelled_shift")
right("return torch.softmax(x + self.s, 1) + torch.log_softmax(2 * x - 3, 0)", "[torch.randn(30, 50)]", "self.s = nn.Parameter(torch.randn(30, 1))", "cancelled_shift cancelled_shift")
right("return F.layer_norm(self.c(x) + self.s, [40])", "[torch.randn(64, 24)]", "self.c, self.s = nn.Linear(24, 40), nn.Parameter(torch.randn(64, 1))", "cancelled_shift")
right("return torch.softmax(self.c(x), 1)", "[torch.randn(64, 24)]", "self.c = nn.Linear(24, 40)", "")       -- the bias differs along the rows

check.test("a tensor is gone through once for a norm's mean and for a mean of what the norm makes", function()
  for _, forward in ipairs { "return F.group_norm(torch.relu(x), 4).mean((2, 3))", "return F.batch_norm(torch.relu(x), None, None, training=True).mean((2, 3))" } do
    local made = composed.right(forward, "[torch.randn(2, 8, 64, 65)]", nil, { arch = "sm_90a" })
    local _, reads = made.plan:gsub("launch%([^\n]*inputs%[1%]", "")
    check.equal(reads, 1, made.plan)
  end
end)

return check.done()
