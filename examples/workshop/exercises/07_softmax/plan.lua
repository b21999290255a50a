-- A block of 256 threads for each row. COLS is known to the compiler.
local x = inputs[1]
local t = tunables{ cols = { x.shape[2] } }
launch("softmax", { grid = x.shape[1], block = 256 }, outputs[1], x)
