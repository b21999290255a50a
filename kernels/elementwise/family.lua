-- What can be said of each element alone: y = f(x), where f is one operator or a graph of them.
-- How the bytes move does not depend on what is computed between them, and what stays in
-- registers between two operators is not moved at all.

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

-- The C name of an operand: the task's tensor, what an operator before left, or a number.
local function operand(op, i)
  local x = op.inputs[i]
  if not x then return op.args.other and literal(op.args.other) end
  return x.source == "input:1" and "x" or x.source:gsub("^op:", "v")
end

local function expression(op)
  local names = { A = operand(op, 1), B = operand(op, 2) }
  return (functions[op.op](op):gsub("%f[%w_][AB]%f[^%w_]", names))
end

-- Whether an operand is all of the task's tensor, or of something made of it, in its order.
local function plain(x, like)
  if x.source ~= "input:1" and not x.source:find "^op:" then return false, "its operands must come of the task's first input" end
  if x.dtype ~= "float32" then return false, "it computes in float32 only" end
  if x.view or #x.shape ~= #like.shape then return false, "its operands must have one shape and one order" end
  for i, n in ipairs(x.shape) do
    if n ~= like.shape[i] then return false, "its operands must have one shape and one order" end
  end
  return true
end

local function serves_op(op, like)
  if not functions[op.op] then return false, op.op .. " is not in its table of functions" end
  for _, x in ipairs(op.inputs) do
    local fine, why = plain(x, like)
    if not fine then return false, why end
  end
  return true
end

return {
  name = "elementwise",

  serves = function(graph)
    local like = graph[1] and graph[1].inputs[1]
    if not like then return false, "it takes an operator on a tensor" end
    for _, op in ipairs(graph) do
      local fine, why = serves_op(op, like)
      if not fine then return false, why end
    end
    if #like.shape == 0 then return false, "a tensor without dimensions is not worth a kernel" end
    return true
  end,

  -- One operator is an expression; several are statements of a function that is called at once.
  defines = function(graph)
    if #graph == 1 then return { FUNCTION = expression(graph[1]) } end
    local lines = {}
    for i, op in ipairs(graph) do lines[i] = string.format("const float v%d = %s; ", op.number, expression(op)) end
    return { FUNCTION = string.format("[&] { %sreturn v%d; }()", table.concat(lines), graph[#graph].number) }
  end,

  versions = { "v1_chunk", "v2_coalesced", "v3_vector", "v4_unrolled" },
}
