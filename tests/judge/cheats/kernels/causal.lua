local y, x, mask = outputs[1], inputs[1], inputs[2]
launch("causal", { grid = (y.numel + 255) // 256, block = 256 }, y, x, mask, x.shape[1])
