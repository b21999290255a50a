-- W lies as (outputs, inputs): transpose_b reads it so, without a copy.
local y = outputs[1]
gemm{ a = inputs[1], b = params[weight_name or "fc.weight"], transpose_b = true,
      bias = params[bias_name or "fc.bias"], c = y }

local t = tunables{ block = { 256, 128, 512 } }
local threads = y.numel // 4 + y.numel % 4
launch("activate", { grid = (threads + t.block - 1) // t.block, block = t.block }, y, y.numel)
