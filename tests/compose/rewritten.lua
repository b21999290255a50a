-- rewritten: proofs of rewrites: what they make is the same in real arithmetic, shown on random instances of small whole numbers, bit by bit;
-- where a guard does not hold nothing is rewritten.
--   local rewritten = dofile "tests/compose/rewritten.lua"
--   rewritten.rule("what it is", function() return instance end, function(g, instance) return node end, "name")

local check = dofile "tests/support/check.lua"
local graphs = require "cawb.compose.ir.graph"
local interpret = dofile "tests/compose/interpret.lua"
local rewrite = require "cawb.compose.rewrite.rewrite"
local text = require "cawb.compose.ir.tree.text"
local tree = require "cawb.compose.ir.tree"

local random = math.random
local seed = math.tointeger(tonumber(os.getenv "CAWB_TEST_SEED" or 7))
math.randomseed(seed)

local M = { check = check, seed = seed, rounds = os.getenv "CAWB_TEST_BRIEF" and 8 or 50 }

-- Small whole numbers, the same for the same place of the same tensor.
function M.leaves(seeds)
  return setmetatable({}, { __index = function(_, source)
    local salt = seeds[source] or #source
    return function(n) return (n * 7919 + salt * 104729 + (n * n) % 31) % 9 - 4 end
  end })
end

function M.leaf(g, name, ...)
  local shape = { ... }
  return g:node { kind = "leaf", source = name, shape = shape, dtype = "float64", strides = graphs.contiguous(shape) }
end

-- What `build` makes, twice: once as it is and once rewritten. Returns the steps.
function M.same(build, dims)
  local function made(change)
    local g = graphs.new()
    g.outputs = { build(g, dims) }
    local steps = change and rewrite.apply(g:clean()) or {}
    return interpret(g:clean(), M.leaves {}), steps
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

-- 2^k: quotients by it are exact.
function M.power() return 1 << random(0, 3) end

-- Instances until enough of them matched: how many do is chance.
function M.rule(what, draw, build, name)
  check.test(what, function()
    local matched, drawn = 0, 0
    while drawn < M.rounds or matched < M.rounds // 2 and drawn < 20 * M.rounds do
      local steps = M.same(build, draw())
      for _, s in ipairs(steps) do matched = matched + (s.rule == (name or "sum_before_product") and 1 or 0) end
      drawn = drawn + 1
    end
    assert(matched >= M.rounds // 2, ("matched %d times in %d (seed %d)"):format(matched, drawn, seed))
  end)
end

function M.unchanged(what, build)
  check.test("nothing is rewritten: " .. what, function()
    check.equal(#M.same(build, { m = 8, n = 8, k = 5 }), 0)
  end)
end

function M.mean(g, x, axes)
  local n = 1
  for d in pairs(axes) do n = n * x.shape[d] end
  return g:map("A / B", "float64", { g:reduce("sum", x, axes), g:fill(n, {}, "float64") })
end

-- How many elements a set of axes has: a power of two, in what follows.
function M.power_of(x, axes)
  local n = 1
  for d in pairs(axes) do n = n * x.shape[d] end
  return n
end

--- A map of a pattern's form: `nodes` by its letters, which become operands in any order.
function M.instance(g, line, nodes)
  local pattern, operands, number = text.read(line, "float64"), {}, {}
  tree.has(pattern, function(t)
    local letter = t.op == "argument" and string.char(64 + t.k)
    if letter and not number[letter] then
      table.insert(operands, random(#operands + 1), letter)
      number[letter] = true
    end
    return false
  end)
  for k, letter in ipairs(operands) do number[letter], operands[k] = k, nodes[letter] end
  return g:map(tree.changed(pattern, function(t) return t.op == "argument" and tree.argument(number[string.char(64 + t.k)], t.type) end),
    "float64", operands)
end

-- ---- what many of them are about

function M.product(g, d)
  return g:node { kind = "product", inputs = { M.leaf(g, "input:1", d.m, d.k), M.leaf(g, "param:w", d.k, d.n), M.leaf(g, "param:b", d.n) },
                  shape = { d.m, d.n }, dtype = "float64" }
end

function M.matrix() return { m = 4 * M.power(), n = 4 * M.power(), k = random(1, 9), which = random(3) } end

-- Sizes of results as PyTorch has them.
function M.conv(g, d)
  local x = M.leaf(g, "input:1", 2, d.groups * 2, table.unpack(d.size))
  local outs = d.groups * d.outs
  local w = d.transposed and M.leaf(g, "param:w", d.groups * 2, d.outs, table.unpack(d.taps)) or M.leaf(g, "param:w", outs, 2, table.unpack(d.taps))
  local shape = { 2, outs }
  for k, n in ipairs(d.size) do
    local reach = d.dilation[k] * (d.taps[k] - 1)
    shape[k + 2] = d.transposed and (n - 1) * d.stride[k] - 2 * d.padding[k] + reach + 1
      or (n + 2 * d.padding[k] - reach - 1) // d.stride[k] + 1
  end
  local c = { dims = #d.size, groups = d.groups, transposed = d.transposed, stride = d.stride, padding = d.padding,
              dilation = d.dilation, taps = d.taps, output_padding = { 0, 0, 0 } }
  return g:node { kind = "conv", inputs = { x, w, M.leaf(g, "param:b", outs) }, shape = shape, dtype = "float64", conv = c }
end

function M.geometry()
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

--- A task that becomes right, and for which `steps` are done, as the names of rewrites; `composed` is that module of tests.
function M.right(composed, forward, inputs, setup, steps)
  check.test("rewritten, and right: " .. forward, function()
    local made = composed.right(forward, inputs, setup, { arch = "sm_90a" })
    local words = {}
    for i, s in ipairs(made.rewrites) do words[i] = s.rule end
    check.equal(table.concat(words, " "), steps)
  end)
end

return M
