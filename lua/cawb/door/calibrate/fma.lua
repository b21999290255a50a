launch("fma_rate", { grid = inputs[1].numel // 256, block = 256 }, outputs[1], inputs[1], 1.0, 0.0)
