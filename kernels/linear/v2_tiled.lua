-- One block for each tile of y, one thread for each element of it.
local x, y = inputs[1], outputs[1]
local w, bias = params[weight_name or "fc.weight"], params[bias_name or "fc.bias"]
local m, k, n = x.shape[1], x.shape[2], w.shape[1]
assert(x.rank == 2 and x.strides[1] == k and w.strides[1] == k, "x and the weight must be contiguous")

local t = tunables{ tile = { 32, 16 } }
launch("linear", { grid = { (n + t.tile - 1) // t.tile, (m + t.tile - 1) // t.tile },
  block = { t.tile, t.tile } }, y, x, w, bias, m, n, k)
