-- y = f(x W' + bias): a linear layer and what follows it, in float32. The first rungs do all of
-- it by hand; the last two leave the product to a library, which knows the machine better, and
-- ask what is still to be won around it.

local pointwise = require "cawb.pointwise"

-- The library's name for what follows the product, where it has one.
local function epilogue(graph)
  local f = graph[2]
  if #graph > 2 then return nil end
  if f.name == "gelu" and f.args.approximate == "tanh" then return "gelu_tanh" end
  return f.name == "relu" and "relu" or nil
end

local function root(graph) return "op:" .. graph[1].number end

return {
  name = "linear",

  serves = function(graph)
    if #graph < 2 then return false, "it takes a linear layer and a function" end
    local product = graph[1]
    if product.name ~= "addmm" then
      return false, product.op .. " is not a linear layer with a bias"
    end
    local bias, x, w = table.unpack(product.inputs)
    if x.source ~= "input:1" or not w.source:find "^param:" or not bias.source:find "^param:" then
      return false, "it multiplies the task's first input by a parameter"
    end
    if product.args.alpha ~= 1 or product.args.beta ~= 1 then return false, "it takes no factors" end
    if x.dtype ~= "float32" or #bias.shape ~= 1 then return false, "it computes in float32 only" end
    return pointwise.serves(graph, 2, root(graph), product.outputs[1].shape)
  end,

  defines = function(graph) return { FUNCTION = pointwise.expression(graph, 2, root(graph), "v") } end,

  constants = function(graph)
    local bias, _, w = table.unpack(graph[1].inputs)
    return { activation = epilogue(graph), weight_name = w.source:sub(7), bias_name = bias.source:sub(7) }
  end,

  -- The library's epilogues know two functions.
  except = function(graph) return { v4_epilogue = epilogue(graph) == nil } end,

  versions = { "v1_naive", "v2_tiled", "v3_library", "v4_epilogue" },
}
