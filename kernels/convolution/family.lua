-- y = f(conv(x, w) + bias) over two dimensions in float32, where f is nothing or what follows.

local pointwise = require "cawb.pointwise"

local function is_list(v, n) return type(v) == "table" and #v == n end

-- The only function that the library applies; a kernel has to follow with others.
local function is_relu(graph) return #graph == 2 and graph[2].name == "relu" end
local function follows(graph) return #graph > 1 and not is_relu(graph) end

return {
  name = "convolution",

  serves = function(graph)
    local conv = graph[1]
    if conv.name ~= "convolution" then return false, conv.op .. " is not a convolution" end
    local x, w, bias = table.unpack(conv.inputs)
    if x.source ~= "input:1" or not w.source:find "^param:" then
      return false, "it applies a parameter to the task's first input"
    end
    if not bias or not bias.source:find "^param:" then return false, "it adds a bias" end
    if x.dtype ~= "float32" or #x.shape ~= 4 then return false, "it computes in float32 over two dimensions" end
    if conv.args.transposed or not is_list(conv.args.stride, 2) then return false, "it is not transposed" end
    return pointwise.serves(graph, 2, "op:" .. conv.number, conv.outputs[1].shape)
  end,

  defines = function(graph)
    return { FUNCTION = pointwise.expression(graph, 2, "op:" .. graph[1].number, "v") }
  end,

  constants = function(graph)
    local args, _, w, bias = graph[1].args, table.unpack(graph[1].inputs)
    return { weight_name = w.source:sub(7), bias_name = bias.source:sub(7), groups = args.groups,
             stride_y = args.stride[1], stride_x = args.stride[2],
             padding_y = args.padding[1], padding_x = args.padding[2],
             dilation_y = args.dilation[1], dilation_x = args.dilation[2],
             activation = is_relu(graph) and "relu" or "none" }
  end,

  except = function(graph)
    return { v2_library = follows(graph), v3_library_then_kernel = not follows(graph) }
  end,

  versions = { "v1_naive", "v2_library", "v3_library_then_kernel" },
}
