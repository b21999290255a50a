local y, a, b = outputs[1], inputs[1], inputs[2]
launch("total", { grid = 1, block = 256 }, y, a, b, a.shape[1], b.shape[2], a.shape[2])
