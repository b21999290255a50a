-- Values: the tree of an element has the element's value, and elements that are computed alike have one tree.

local rewritten = dofile "tests/compose/rewritten.lua"
local check = rewritten.check
local evaluate = dofile "tests/support/evaluate.lua"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local interpret = dofile "tests/compose/interpret.lua"
local softmax = require "cawb.compose.ir.softmax"
local values = require "cawb.compose.ir.values"

local random = math.random

local function leaf(g, name, ...)
  local shape = { ... }
  return g:node { kind = "leaf", source = name, shape = shape, dtype = "float64", strides = graphs.contiguous(shape) }
end

local function one_of(list) return list[random(#list)] end

-- A graph of maps, plain views and reduces.
local function drawn(g, steps)
  local list = { leaf(g, "input:1", 4, 6), leaf(g, "input:2", 6), g:fill(3, {}, "float64") }
  for _ = 1, steps do
    local x, y, how = one_of(list), one_of(list), random(5)
    local n = graphs.numel(x.shape)
    if how == 1 and #x.shape == 2 then list[#list + 1] = g:permute(g:reshape(x, { x.shape[2], n // x.shape[2] }), { 2, 1 })
    elseif how == 2 and #x.shape == 2 then list[#list + 1] = g:reduce(one_of { "sum", "max" }, x, { [2] = true }, true)
    elseif how == 3 then list[#list + 1] = g:map(one_of { "A * A - A", "(A < 0.0 ? -A : A)", "maximum(A, 1.0)" }, "float64", { x })
    else
      local shape = graphs.together { x, y }
      if pcall(g.broadcast, g, x, shape) and (#x.shape ~= #y.shape or graphs.same(x.shape, y.shape)) and (x.shape[#x.shape] or 1) <= 6 and
        (#x.shape == 0 or #y.shape == 0 or x.shape[#x.shape] == y.shape[#y.shape]) then
        list[#list + 1] = g:map(one_of { "A + B", "exact(A - B) * B", "A * B", "(A > B ? A : B)" }, "float64", { x, y })
      end
    end
  end
  return list[#list]
end

local function input(source) return function(n) return (n * 7919 + #source * 31 + n * n) % 9 - 4 end end

check.test("an element's tree has its value", function()
  for _ = 1, 60 do
    local g = graphs.new()
    local x = drawn(g, random(3, 12))
    g.outputs = { x }
    local leaves = { ["input:1"] = input "a", ["input:2"] = input "bb" }
    local all = interpret(g:clean(), leaves)[1]
    local numbers, n = {}, random(0, math.max(graphs.numel(x.shape) - 1, 0))
    for d, e in ipairs(index.unravel(index.const(n), x.shape)) do numbers[d] = e end
    local v = values.new()
    local t = v:of(x, numbers)
    local at = {}
    for k, source in ipairs(v.sources) do
      local place = index.number(index.ravel(source.at, source.node.shape))
      local h = graphs.new()
      h.nodes, h.outputs = g.nodes, { source.node }
      at[k] = interpret(h, leaves)[1][place + 1]
    end
    check.equal(evaluate.of(t, at), all[n + 1])
  end
end)

check.test("what is computed alike has one tree, and other elements have another", function()
  local g, i, j = graphs.new(), index.var("i", 4), index.var("j", 6)
  local x, y = leaf(g, "input:1", 4, 6), leaf(g, "input:2", 6)
  local once = g:map("exp(A - B)", "float64", { x, y })
  local apart = g:map("exp(A)", "float64", { g:map("A - B", "float64", { g:permute(g:permute(x, { 2, 1 }), { 2, 1 }), g:reshape(y, { 1, 6 }) }) })
  local v = values.new()
  check.equal(v:of(once, { i, j }), v:of(apart, { i, j }))
  assert(v:of(once, { i, j }) ~= v:of(once, { i, index.const(2) }))
  assert(v:of(once, { i, j }) ~= v:of(g:map("exp(A - B)", "float64", { y, x }), { i, j }))
  check.equal(v:of(g:map("A * B", "float64", { x, g:fill(1, {}, "float64") }), { i, j }), v:of(x, { i, j }))
end)

check.test("a softmax is found in all pairs of its patterns, along its own row", function()
  for _, quotient in ipairs(softmax.quotients) do
    for _, exponential in ipairs(softmax.exponentials) do
      local function build(axis)
        local g = graphs.new()
        local s = g:map("A * B", "float64", { leaf(g, "input:1", 4, 6), leaf(g, "input:2", 6) })
        local top = g:reduce("max", s, { [axis] = true }, true)
        if quotient.finite then top = rewritten.instance(g, softmax.FINITE, { T = top }) end
        local e = rewritten.instance(g, exponential, { S = s, T = top })
        local sum = g:reduce("sum", e, { [axis] = true }, true)
        return rewritten.instance(g, quotient[1], { X = e, Y = sum }), s
      end
      local p, s = build(2)
      local found, finite = softmax.of(p, { index.var("row", 4), index.var("column", 6) })
      check.equal(found, s, quotient[1])
      check.equal(finite, quotient.finite or false)
      check.equal(softmax.of(build(1), { index.var("row", 4), index.var("column", 6) }), nil)
    end
  end
end)

return check.done()
