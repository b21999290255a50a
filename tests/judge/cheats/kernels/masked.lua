local y, x, mask = outputs[1], inputs[1], inputs[2]
launch("masked", { grid = x.shape[1], block = 32 }, y, x, mask, x.shape[2])
