local n = inputs[1].numel
launch("chain", { grid = (n + 255) // 256, block = 256 }, outputs[1], inputs[1], n, 1.0, 0.0)
