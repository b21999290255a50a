-- `workspace` is what the algorithm may use, and more of it admits more algorithms.
local y = outputs[1]
conv{ x = inputs[1], w = params[weight_name or "conv.weight"], y = y,
      bias = params[bias_name or "conv.bias"], stride = { stride_y or 1, stride_x or 1 },
      padding = { padding_y or 1, padding_x or 1 }, dilation = { dilation_y or 1, dilation_x or 1 },
      groups = groups or 1, activation = "none", workspace = 256 << 20 }

local t = tunables{ block = { 256, 128, 512 } }
local threads = y.numel // 4 + y.numel % 4
launch("activate", { grid = (threads + t.block - 1) // t.block, block = t.block }, y, y.numel)
