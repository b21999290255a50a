-- pointwise: operator graphs that compute each element from itself alone, as C. What the ladders
-- put into a kernel's -DFUNCTION: one operator is an expression, several are statements of a
-- function that is called at once. In float32.

local M = {}

-- A C literal of type float, exact to float32's last bit. What is not finite comes
-- as a word, because JSON has no number for it.
local words = { inf = "INFINITY", ["-inf"] = "(-INFINITY)", nan = "NAN" }

local function literal(v)
  if words[v] then return words[v] end
  local digits = string.format("%.9g", v)
  return digits .. (string.find(digits, "[.e]") and "f" or ".0f")
end

local function always(template)
  return function() return template end
end

-- The second operand of a sum: times alpha.
local function scaled(op)
  return op.args.alpha == 1 and "B" or "B * " .. literal(op.args.alpha or 1)
end

-- Powers that PyTorch computes without pow.
local powers = { [0.5] = "sqrtf(A)", [1] = "A", [2] = "A * A", [3] = "A * A * A", [-0.5] = "1.0f / sqrtf(A)",
                 [-1] = "1.0f / A", [-2] = "1.0f / (A * A)" }

-- ATen operator -> C in the operands A and B. A comparison that is false for NaN keeps A, as
-- PyTorch does.
local functions = {
  ["aten.gelu.default"] = function(op)
    if op.args.approximate == "tanh" then
      return "0.5f * A * (1.0f + tanhf(0.7978845608f * (A + 0.044715f * A * A * A)))"
    end
    return "0.5f * A * (1.0f + erff(A * 0.7071067812f))"
  end,
  ["aten.relu.default"] = always "(A < 0.0f ? 0.0f : A)",
  ["aten.sigmoid.default"] = always "1.0f / (1.0f + expf(-A))",
  ["aten.silu.default"] = always "A / (1.0f + expf(-A))",
  ["aten.mish.default"] = always "A * tanhf(A > 20.0f ? A : log1pf(expf(A)))",
  ["aten.hardswish.default"] = always "A * (A < -3.0f ? 0.0f : A > 3.0f ? 6.0f : A + 3.0f) / 6.0f",
  ["aten.hardsigmoid.default"] = always "(A < -3.0f ? 0.0f : A > 3.0f ? 6.0f : A + 3.0f) / 6.0f",
  ["aten.tanh.default"] = always "tanhf(A)",
  ["aten.exp.default"] = always "expf(A)",
  ["aten.log.default"] = always "logf(A)",
  ["aten.sqrt.default"] = always "sqrtf(A)",
  ["aten.rsqrt.default"] = always "1.0f / sqrtf(A)",
  ["aten.reciprocal.default"] = always "1.0f / A",
  ["aten.erf.default"] = always "erff(A)",
  ["aten.abs.default"] = always "fabsf(A)",
  ["aten.neg.default"] = always "-A",
  ["aten.leaky_relu.default"] = function(op)
    return string.format("(A > 0.0f ? A : A * %s)", literal(op.args.negative_slope))
  end,
  ["aten.elu.default"] = function(op)  -- SELU arrives here too, with its two scales
    local scale, steep = literal(op.args.scale), literal(op.args.input_scale)
    return string.format("(A > 0.0f ? A * %s : expm1f(A * %s) * (%s * %s))",
      scale, steep, literal(op.args.alpha), scale)
  end,
  ["aten.hardtanh.default"] = function(op)
    local lo, hi = literal(op.args.min_val), literal(op.args.max_val)
    return string.format("(A < %s ? %s : A > %s ? %s : A)", lo, lo, hi, hi)
  end,
  ["aten.clamp.default"] = function(op)
    local lo, hi = literal(op.args.min or "-inf"), literal(op.args.max or "inf")
    return string.format("(A < %s ? %s : A > %s ? %s : A)", lo, lo, hi, hi)
  end,
  ["aten.softplus.default"] = function(op)
    local beta, most = literal(op.args.beta), literal(op.args.threshold)
    return string.format("(A * %s > %s ? A : log1pf(expf(A * %s)) / %s)", beta, most, beta, beta)
  end,
  ["aten.pow.Tensor_Scalar"] = function(op)
    return powers[op.args.exponent] or string.format("powf(A, %s)", literal(op.args.exponent))
  end,
  ["aten.mul.Tensor"] = always "A * B",
  ["aten.div.Tensor"] = always "A / B",
  ["aten.add.Tensor"] = function(op) return "A + " .. scaled(op) end,
  ["aten.sub.Tensor"] = function(op) return "A - " .. scaled(op) end,
}

-- The C name of an operand: what the graph begins with, what an operator before left, or a number.
local function operand(op, i, root, name)
  local x = op.inputs[i]
  if not x then return op.args.other and literal(op.args.other) end
  return x.source == root and name or x.source:gsub("^op:", "v")
end

local function expression(op, root, name)
  local names = { A = operand(op, 1, root, name), B = operand(op, 2, root, name) }
  return (functions[op.op](op):gsub("%f[%w_][AB]%f[^%w_]", names))
end

local function same_shape(a, b)
  for i, n in ipairs(a) do
    if n ~= b[i] then return false end
  end
  return #a == #b
end

-- `made` holds what operands may come of.
local function serves_op(op, made, shape)
  if not functions[op.op] then return false, op.op .. " is not in the table of functions" end
  for _, x in ipairs(op.inputs) do
    if not made[x.source] then return false, ("%s meets a tensor that is not made of the first"):format(op.op) end
    if x.dtype ~= "float32" then return false, "it computes in float32 only" end
    if x.view or not same_shape(x.shape, shape) then return false, "its operands must have one shape and one order" end
  end
  return true
end

--- Whether the operators of a graph from number `first` of the list on compute, element by
--- element, of one tensor alone: `root`, a source as "input:1", of this shape. Or false and why not.
function M.serves(graph, first, root, shape)
  local made = { [root] = true }
  for i = first, #graph do
    local fine, why = serves_op(graph[i], made, shape)
    if not fine then return false, why end
    made["op:" .. graph[i].number] = true
  end
  return true
end

--- What they compute, as a C expression in `name`.
function M.expression(graph, first, root, name)
  if first > #graph then return name end
  if first == #graph then return expression(graph[first], root, name) end
  local lines = {}
  for i = first, #graph do
    lines[#lines + 1] = ("const float v%d = %s; "):format(graph[i].number, expression(graph[i], root, name))
  end
  return ("[&] { %sreturn v%d; }()"):format(table.concat(lines), graph[#graph].number)
end

return M
