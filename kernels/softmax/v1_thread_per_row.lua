-- One thread for each row.
local x, y = inputs[1], outputs[1]
assert(x.strides[x.rank] == 1 and x.strides[1] * x.shape[1] == x.numel, "x must be contiguous")

local cols = x.shape[x.rank]
local rows = x.numel // cols
local block = 128
launch("softmax", { grid = (rows + block - 1) // block, block = block }, y, x, rows, cols)
