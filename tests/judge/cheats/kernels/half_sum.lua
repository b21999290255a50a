local y, x = outputs[1], inputs[1]
launch("half_sum", { grid = x.shape[1], block = 256 }, y, x, x.shape[2])
