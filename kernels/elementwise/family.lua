-- One unary function on every element: y = f(x). GELU is the example; any other
-- operator of the table below climbs the same ladder, because how the bytes move
-- does not depend on what is computed between them.

-- A C literal of type float, exact to float32's last bit. What is not finite comes
-- as a word, because JSON has no number for it.
local words = { inf = "INFINITY", ["-inf"] = "(-INFINITY)", nan = "NAN" }

local function literal(v)
  if words[v] then return words[v] end
  local digits = string.format("%.9g", v)
  return digits .. (string.find(digits, "[.e]") and "f" or ".0f")
end

-- ATen operator -> the expression in x that the kernels compute. A comparison
-- that is false for NaN keeps x, as PyTorch does.
local functions = {
  ["aten.gelu.default"] = function(op)
    if op.args.approximate == "tanh" then
      return "0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)))"
    end
    return "0.5f * x * (1.0f + erff(x * 0.7071067812f))"
  end,
  ["aten.relu.default"] = function() return "(x < 0.0f ? 0.0f : x)" end,
  ["aten.sigmoid.default"] = function() return "1.0f / (1.0f + expf(-x))" end,
  ["aten.silu.default"] = function() return "x / (1.0f + expf(-x))" end,
  ["aten.tanh.default"] = function() return "tanhf(x)" end,
  ["aten.exp.default"] = function() return "expf(x)" end,
  ["aten.abs.default"] = function() return "fabsf(x)" end,
  ["aten.neg.default"] = function() return "-x" end,
  ["aten.leaky_relu.default"] = function(op)
    return string.format("(x > 0.0f ? x : x * %s)", literal(op.args.negative_slope))
  end,
  ["aten.elu.default"] = function(op)  -- SELU arrives here too, with its two scales
    local scale, steep = literal(op.args.scale), literal(op.args.input_scale)
    return string.format("(x > 0.0f ? x * %s : expm1f(x * %s) * (%s * %s))",
      scale, steep, literal(op.args.alpha), scale)
  end,
  ["aten.hardtanh.default"] = function(op)
    local lo, hi = literal(op.args.min_val), literal(op.args.max_val)
    return string.format("(x < %s ? %s : x > %s ? %s : x)", lo, lo, hi, hi)
  end,
}

return {
  name = "elementwise",

  serves = function(graph)
    if #graph ~= 1 then return false, "it takes exactly one operator" end
    local op = graph[1]
    if not functions[op.op] then return false, op.op .. " is not in its table of functions" end
    local x = op.inputs[1]
    if x.source ~= "input:1" then return false, "its operand must be the task's first input" end
    if x.dtype ~= "float32" then return false, "it computes in float32 only" end
    if #x.shape == 0 then return false, "a tensor without dimensions is not worth a kernel" end
    return true
  end,

  defines = function(graph)
    return { FUNCTION = functions[graph[1].op](graph[1]) }
  end,

  versions = { "v1_chunk", "v2_coalesced", "v3_vector", "v4_unrolled" },
}
