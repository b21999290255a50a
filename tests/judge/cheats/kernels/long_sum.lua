local y, x, blocks = outputs[1], inputs[1], 64
local part = scratch{ shape = { x.shape[1], blocks }, dtype = "float32" }
launch("parts", { grid = { blocks, x.shape[1] }, block = 256 }, part, x, x.shape[2])
launch("ends", { grid = x.shape[1], block = 32 }, y, part, blocks)
