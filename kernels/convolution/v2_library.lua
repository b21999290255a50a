-- `workspace` is what the algorithm may use, and more of it admits more algorithms. The library
-- applies ReLU; `activation` is "other" where a kernel has to follow.
local function_name, y = activation or "relu", outputs[1]
conv{ x = inputs[1], w = params[weight_name or "conv.weight"], y = y,
      bias = params[bias_name or "conv.bias"], stride = { stride_y or 1, stride_x or 1 },
      padding = { padding_y or 1, padding_x or 1 }, dilation = { dilation_y or 1, dilation_x or 1 },
      groups = groups or 1, activation = function_name == "relu" and "relu" or "none", workspace = 256 << 20 }

if function_name == "other" then
  local t = tunables{ block = { 256, 128, 512 } }
  launch("activate", { grid = (y.numel // 4 + y.numel % 4 + t.block - 1) // t.block, block = t.block }, y, y.numel)
end
