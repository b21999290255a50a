local y, x = outputs[1], inputs[1]
launch("sigmoid", { grid = (y.numel + 255) // 256, block = 256 }, y, x, y.numel)
