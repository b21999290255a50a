-- One thread for each element of y; a warp is 32 columns of one row.
local x, y = inputs[1], outputs[1]
local w, bias = params[weight_name or "fc.weight"], params[bias_name or "fc.bias"]
local m, k, n = x.shape[1], x.shape[2], w.shape[1]
assert(x.rank == 2 and x.strides[1] == k and w.strides[1] == k, "x and the weight must be contiguous")

launch("linear", { grid = { (n + 31) // 32, (m + 7) // 8 }, block = { 32, 8 } }, y, x, w, bias, m, n, k)
