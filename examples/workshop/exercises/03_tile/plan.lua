-- Tiles of 32 x 32 elements; 8 rows of a tile at a time.
local x = inputs[1]
local rows, cols = x.shape[1], x.shape[2]
launch("transpose", { grid = { (cols + 31) // 32, (rows + 31) // 32 }, block = { 32, 8 } }, outputs[1], x, rows, cols)
