-- Trees: equal ones are one table; their line reads back; C, cost, degree and shift follow their values. Trees are drawn at random.

local generated = dofile "tests/support/generated.lua" (assert(require("cawb").device "sim:h100"))
local check = generated.check
local cost = require "cawb.compose.ir.tree.cost"
local cuda = require "cawb.compose.ir.tree.cuda"
local degree = require "cawb.compose.ir.tree.degree"
local evaluate = dofile "tests/support/evaluate.lua"
local match = require "cawb.compose.ir.tree.match"
local shift = require "cawb.compose.ir.tree.shift"
local text = require "cawb.compose.ir.tree.text"
local tree = require "cawb.compose.ir.tree"

local random = math.random

local function one_of(list) return list[random(#list)] end

local function read(line, dtype) return text.read(line, dtype or "float64") end

-- ---- drawn trees: `numbers` are real, `truths` are true or false

local numbers, truths

local function leaf()
  if random() < 0.6 then return tree.argument(random(4), "float64") end
  return tree.constant(one_of { 0.5, -3.0, 2.0, 1.0, 0.25 }, "float64")
end

-- No sign ahead of a number: that would be a number.
local function negated(x) return x.op == "constant" and x or tree.node("negate", { x }) end

function numbers(depth)
  if depth == 0 then return leaf() end
  local how = random(8)
  if how == 1 then return negated(numbers(depth - 1)) end
  if how == 2 then return tree.node("select", { truths(depth - 1), numbers(depth - 1), numbers(depth - 1) }) end
  if how == 3 then return tree.node(one_of { "abs", "floor", "rint" }, { numbers(depth - 1) }) end
  local both = { numbers(random(0, depth - 1)), numbers(random(0, depth - 1)) }
  if how == 5 then return tree.node(one_of { "maximum", "minimum" }, both, { nan = one_of { "wins", "loses" } }) end
  return tree.node(one_of { "add", "subtract", "multiply" }, both, how == 4 and { exact = true } or nil)
end

function truths(depth)
  if depth < 2 or random() < 0.6 then
    return tree.node(one_of { "less", "less_equal", "greater", "equal", "not_equal" }, { numbers(math.max(0, depth - 1)), leaf() })
  end
  if random() < 0.3 then return tree.node("not", { truths(depth - 1) }) end
  return tree.node(one_of { "and", "or", "not_equal" }, { truths(depth - 1), truths(depth - 1) })
end

local function drawn(count, depth, draw)
  local list = {}
  for k = 1, count do list[k] = (draw or numbers)(depth) end
  return list
end

-- Sums, differences, products and quotients by numbers.
local function polynomial(depth)
  if depth == 0 then return leaf() end
  local a, b = polynomial(depth - 1), polynomial(random(0, depth - 1))
  if random() < 0.2 then return tree.node("divide", { a, tree.constant(2.0, "float64") }) end
  return tree.node(one_of { "add", "subtract", "multiply" }, { a, b }, random() < 0.2 and { exact = true } or nil)
end

local function values() return { random(-8, 8) + 0.0, random(-8, 8) + 0.0, random(-8, 8) + 0.0, random(-8, 8) + 0.0 } end

-- ---- the representation

check.test("equal trees are one table; operations, types, numbers and attributes tell others apart", function()
  check.equal(read "A * (1.0 / B)", read "A*(1.0/B)")
  for _, t in ipairs(drawn(200, 4)) do check.equal(tree.changed(t, function(x) return x.op == "argument" and tree.argument(x.k, x.type) end), t) end
  local seen = {}
  for _, t in ipairs { read "A + B", read "B + A", read "A - B", read("A + B", "float32"), read "exact(A + B)", read "A + 0.0", read "A + -0.0",
                       read "A + 0", read "A + 0LL", read "A / B", read "approximate(A / B)", read "float16(A)", read "bfloat16(A)" } do
    assert(not seen[t], text.write(t))
    seen[t] = true
  end
end)

check.test("a tree is one line that reads back", function()
  for depth = 0, 5 do
    for _, t in ipairs(drawn(100, depth)) do check.equal(read(text.write(t)), t) end
    for _, t in ipairs(drawn(100, depth, truths)) do check.equal(read(text.write(t)), t) end
  end
  for _, line in ipairs { "A", "-A * B", "A - (B - C)", "(A < 0 ? 0 : A)", "(A > 0.0 ? A < B ? A : B : 0.0)", "exp(exact(A - B))", "!(A > B)",
                          "A != 0 || B != 0", "(A != 0) != (B != 0)", "approximate(A / (1.0 + exp(-A)))", "float16(A + B)", "maximum(A, B) - minimum_number(B, -A)", "(A == INFINITY ? NAN : A)" } do
    check.equal(text.write(read(line)), line)
  end
  check.equal(text.write(text.read("int64(A)%4LL<<B", "int64")), "(int64(A) % 4LL) << B")
end)

check.test("a type for single operands", function()
  local t = text.read("(A ? B : C)", "float32", { "bool" })
  check.equal(t[1].type, "bool")
  check.equal(t.type, "float32")
  check.equal(text.read("A < B", "float32").type, "bool")
  check.equal(text.read("A + 1", "uint8").type, "int32")
  check.equal(text.read("sqrt(A) * 2.0", "float64").type, "float64")
end)

check.test("a line that is no tree is named, with the place", function()
  check.raises("'A %+' cannot be read at character 4", read, "A +")
  check.raises("there is more than a tree", read, "A B")
  check.raises("there is no function 'expo'", read, "expo(A)")
  check.raises("'abc' means nothing", read, "A + abc")
  check.raises("'%)' is missing", read, "(A + B")
  check.raises("'exp' has 1 operands, not 2", read, "exp(A, B)")
  check.raises("no operation 'plus'", tree.node, "plus", {})
end)

-- ---- values

check.test("float64 on a device is the value", function()
  local trees, lines, want = {}, {}, {}
  for k, t in ipairs(drawn(60, 5)) do trees[k] = t end
  for _, t in ipairs(drawn(20, 4, truths)) do trees[#trees + 1] = t end
  for _, line in ipairs { "exp(A * 0.1)", "log(abs(A) + 1.0)", "sqrt(abs(B))", "tanh(A * 0.2)", "1.0 / (2.0 + sin(C))", "fmod(A, 3.0)", "trunc(A / 3.0)",
                          "approximate(A / (1.0 + exp(-B)))", "atan2(A, 2.0)", "pow(abs(A) + 1.0, 1.5)", "ceil(A * 0.3)", "float32(A)", "int64(A * 0.7) % 3" } do
    trees[#trees + 1] = read(line)
  end
  for k, t in ipairs(trees) do
    local at = values()
    local words = {}
    for n, v in ipairs(at) do words[n] = ("%.1f"):format(v) end
    lines[k] = ("  y[%d] = x[%d] + near(%s);"):format(k - 1, k - 1, cuda.write(t, words))
    local value = evaluate.of(t, at)
    value = value == true and 1 or value == false and 0 or value
    want[k] = ("%.17g"):format(value / (1 + math.abs(value)))
  end
  local source = 'static __device__ double near(double v) { return v / (1 + fabs(v)); }\nextern "C" __global__ void values(const double *x, double *y) {\n' .. table.concat(lines, "\n") .. "\n}\n"
  generated.right(([[
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x + torch.tensor([%s], dtype=torch.float64)
def get_inputs():
    return [torch.randn(%d, dtype=torch.float64)]
def get_init_inputs():
    return []
]]):format(table.concat(want, ", "), #trees), {}, { { text = source, launches = { { kernel = "values", grid = { 1 }, block = { 1 },
    arguments = { "inputs[1]", "outputs[1]" } } } } }, {})
end)

check.test("a maximum is NaN where an operand is, or the other operand", function()
  local nan = 0 / 0
  for line, want in pairs { ["maximum(A, B)"] = { nan, nan, 2 }, ["minimum(A, B)"] = { nan, nan, 1 }, ["maximum_number(A, B)"] = { 1, 2, 2 },
                            ["minimum_number(A, B)"] = { 1, 2, 1 } } do
    for k, at in ipairs { { 1, nan }, { nan, 2 }, { 1, 2 } } do
      local got = evaluate.of(read(line), at)
      assert(got == want[k] or got ~= got and want[k] ~= want[k], ("%s, %d: %s"):format(line, k, got))
    end
  end
end)

check.test("float32 has float's functions and numbers, float64 double's", function()
  check.equal(cuda.write(read("exp(A) * 0.5", "float32"), { "x" }), "expf(x) * 0.5f")
  check.equal(cuda.write(read("exp(A) * 0.5", "float64"), { "x" }), "exp(x) * 0.5")
  check.equal(cuda.write(read("exact(A - B)", "float32"), { "x", "-1.0f" }), "__fsub_rn(x, (-1.0f))")
end)

-- ---- what follows from a tree

check.test("a tree costs what its parts cost", function()
  check.equal(cost.of(read "A + B"), 1)
  check.equal(cost.of(read "exp(A - B)"), 13)
  check.equal(cost.of(read "A / B * sqrt(C)"), 21)
  check.equal(cost.of(read "approximate(A / B)"), 1)
  for _, t in ipairs(drawn(50, 3)) do
    check.equal(cost.of(tree.node("exp", { t })), cost.of(t) + 12)
    check.equal(cost.of(tree.node("divide", { t, t })), 2 * cost.of(t) + 7)
  end
end)

check.test("what is linear has its mean at the operands' mean, and what is not is told apart", function()
  local linear = 0
  for _, t in ipairs(drawn(400, 4, polynomial)) do
    if degree.is_linear(t, { true, true }) then
      linear = linear + 1
      local p, q = values(), values()
      q[3], q[4] = p[3], p[4]
      local mean = { (p[1] + q[1]) / 2, (p[2] + q[2]) / 2, p[3], p[4] }
      check.equal(evaluate.of(t, mean), (evaluate.of(t, p) + evaluate.of(t, q)) / 2, text.write(t))
    end
  end
  assert(linear > 50, "linear trees were drawn: " .. linear)
  for _, line in ipairs { "A", "A * 0.5", "(A - B) * C + D", "-A / B", "2.0 - A * (B - D)", "A * B / 3.0 + C", "B * 1e-5", "sqrt(B) * A" } do
    assert(degree.is_linear(read(line), { true }), line)
  end
  for _, line in ipairs { "A * A", "B / A", "exp(A)", "(A > 0.0 ? A : 0.0)", "A * (B + A)", "abs(A)" } do
    assert(not degree.is_linear(read(line), { true }), line)
  end
end)

check.test("a known shift is how far the value moves", function()
  local known = 0
  for _, t in ipairs(drawn(600, 4, polynomial)) do
    local operands = { { shift = { m = 1, key = "c" } }, { shift = { m = -2, key = "c" } }, { number = 3.0 }, {} }
    local moved, sure = shift.of(t, operands)
    if sure then
      known = known + 1
      local at = values()
      at[3] = 3.0
      local there = { at[1] + 4, at[2] - 8, at[3], at[4] }
      check.equal(evaluate.of(t, there) - evaluate.of(t, at), (moved and moved.m or 0) * 4, text.write(t))
    end
  end
  assert(known > 50, "known shifts were drawn: " .. known)
  local _, sure = shift.of(read "exp(A)", { { shift = { m = 1, key = "c" } } })
  check.equal(sure, false)
end)

check.test("an added operand is taken away, and nothing else", function()
  local function without(line, k)
    local left = shift.without(read(line), k)
    return left and text.write(left)
  end
  check.equal(without("A + B", 1), "A")
  check.equal(without("A - B", 2), "A")
  check.equal(without("A * C - (B + D)", 2), "A * B - C")
  for line, k in pairs { ["A - B"] = 1, ["A * B + C"] = 1, ["exact(A - B)"] = 2, ["A + B * A"] = 1, ["(A < 0.0 ? A : B) + C"] = 2, ["-(A + B)"] = 1 } do
    check.equal(without(line, k), nil, line)
  end
  local found = 0
  for _, t in ipairs(drawn(400, 4, polynomial)) do
    local left, at = shift.without(t, 1), values()
    if left then
      found = found + 1
      at[1] = 0.0
      check.equal(evaluate.of(left, { at[2], at[3], at[4] }), evaluate.of(t, at), text.write(t))
    end
  end
  assert(found > 0, "no drawn tree has an added operand")
end)

check.test("a pattern finds the trees at its letters", function()
  local found = match.match(read "exp(A) * (1.0 / (B + C))", "X * (1.0 / Y)")
  check.equal(found.X, read "exp(A)")
  check.equal(found.Y, read "B + C")
  check.equal(match.match(read "exact(A - B)", "X - Y"), nil)
  assert(match.match(read "A * B + A * B", "X + X"))
  check.equal(match.match(read "A * B + B * A", "X + X"), nil)
  for _, t in ipairs(drawn(50, 3)) do
    assert(match.is(t, text.write(t)))
    check.equal(match.match(tree.node("negate", { tree.node("exp", { t }) }), "-exp(X)").X, t)
  end
  check.equal(match.is(read("A / B", "float32"), "A / B"), true)
  check.equal(match.is(read("A / B", "float32"), "A * B"), false)
end)

return check.done()
