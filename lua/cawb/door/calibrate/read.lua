local t = tunables { block = { 128, 256, 512 } }
launch("read", { grid = inputs[1].shape[1], block = t.block }, outputs[1], inputs[1])
