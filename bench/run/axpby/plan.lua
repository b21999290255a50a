local n = inputs[1].numel
launch("axpby", { grid = (n + 127) // 128, block = 128 }, outputs[1], inputs[1], inputs[2], n)
