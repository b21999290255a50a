-- A block of 256 threads for each row.
local x = inputs[1]
launch("row_sum", { grid = x.shape[1], block = 256 }, outputs[1], x, x.shape[2])
