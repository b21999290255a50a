-- y = f(x W' + bias): a linear layer and what follows it, in float32. The first rungs do all of
-- it by hand; the last two leave the product to a library, which knows the machine better, and
-- ask what is still to be won around it.

-- ATen operator -> the expression in v that the kernels compute, and its name among the
-- library's epilogues where it has one.
local functions = {
  ["aten.gelu.default"] = function(op)
    if op.args.approximate == "tanh" then
      return "0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)))", "gelu_tanh"
    end
    return "0.5f * v * (1.0f + erff(v * 0.7071067812f))", "gelu"
  end,
  ["aten.relu.default"] = function() return "(v < 0.0f ? 0.0f : v)", "relu" end,
  ["aten.sigmoid.default"] = function() return "1.0f / (1.0f + expf(-v))", "sigmoid" end,
  ["aten.silu.default"] = function() return "v / (1.0f + expf(-v))", "silu" end,
  ["aten.tanh.default"] = function() return "tanhf(v)", "tanh" end,
}

return {
  name = "linear",

  serves = function(graph)
    if #graph ~= 2 then return false, "it takes a linear layer and one function" end
    local product, f = graph[1], graph[2]
    if product.op ~= "aten.addmm.default" then
      return false, product.op .. " is not a linear layer with a bias"
    end
    if not functions[f.op] then return false, f.op .. " is not in its table of functions" end
    local bias, x, w = table.unpack(product.inputs)
    if x.source ~= "input:1" or not w.source:find "^param:" or not bias.source:find "^param:" then
      return false, "it multiplies the task's first input by a parameter"
    end
    if product.args.alpha ~= 1 or product.args.beta ~= 1 then return false, "it takes no factors" end
    if x.dtype ~= "float32" or #bias.shape ~= 1 then return false, "it computes in float32 only" end
    return true
  end,

  defines = function(graph) return { FUNCTION = (functions[graph[2].op](graph[2])) } end,

  constants = function(graph)
    local bias, _, w = table.unpack(graph[1].inputs)
    return { activation = select(2, functions[graph[2].op](graph[2])),
             weight_name = w.source:sub(7), bias_name = bias.source:sub(7) }
  end,

  -- The library's epilogues know two of the functions.
  except = function(graph)
    local _, name = functions[graph[2].op](graph[2])
    return { v4_epilogue = name ~= "relu" and name ~= "gelu_tanh" }
  end,

  versions = { "v1_naive", "v2_tiled", "v3_library", "v4_epilogue" },
}
