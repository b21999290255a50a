-- y = f(conv(x, w) + bias) over two dimensions in float32, f being nothing or ReLU.

local function is_list(v, n) return type(v) == "table" and #v == n end

return {
  name = "convolution",

  serves = function(graph)
    local conv, f = graph[1], graph[2]
    if #graph > 2 or conv.op ~= "aten.convolution.default" then
      return false, "it takes a convolution, and ReLU behind it"
    end
    if f and f.op ~= "aten.relu.default" then return false, f.op .. " is not ReLU" end
    local x, w, bias = table.unpack(conv.inputs)
    if x.source ~= "input:1" or not w.source:find "^param:" then
      return false, "it applies a parameter to the task's first input"
    end
    if not bias or not bias.source:find "^param:" then return false, "it adds a bias" end
    if x.dtype ~= "float32" or #x.shape ~= 4 then return false, "it computes in float32 over two dimensions" end
    if conv.args.transposed or not is_list(conv.args.stride, 2) then return false, "it is not transposed" end
    return true
  end,

  defines = function(graph) return { RELU = graph[2] and 1 or 0 } end,

  constants = function(graph)
    local args, _, w, bias = graph[1].args, table.unpack(graph[1].inputs)
    return { weight_name = w.source:sub(7), bias_name = bias.source:sub(7), groups = args.groups,
             stride_y = args.stride[1], stride_x = args.stride[2],
             padding_y = args.padding[1], padding_x = args.padding[2],
             dilation_y = args.dilation[1], dilation_x = args.dilation[2],
             activation = graph[2] and "relu" or "none" }
  end,

  versions = { "v1_naive", "v2_library" },
}
