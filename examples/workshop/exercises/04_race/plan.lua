-- A block for each row, 128 elements at a time.
local x = inputs[1]
launch("reverse", { grid = x.shape[1], block = 128 }, outputs[1], x, x.shape[2])
