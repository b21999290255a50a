-- One thread for each column.
local x, y = inputs[1], outputs[1]
assert(#outputs == 1 and y.dtype == "float32", "only the values are computed, not where they are")
assert(x.strides[x.rank] == 1 and x.strides[1] * x.shape[1] == x.numel, "x must be contiguous")

local t = tunables{ width = { 128, 256 }, unroll = { 8, 16 } }
launch("columns", { grid = (y.numel + t.width - 1) // t.width, block = t.width }, y, x, y.numel)
