-- Each thread takes `chunk` neighbouring elements.
local x, y = inputs[1], outputs[1]
assert(x.strides[x.rank] == 1 and x.strides[1] * x.shape[1] == x.numel, "x must be contiguous")

local block, chunk = 128, 32
local per_block = block * chunk
launch("elementwise", { grid = (x.numel + per_block - 1) // per_block, block = block },
  y, x, x.numel, chunk)
