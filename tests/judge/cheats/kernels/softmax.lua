local y, x = outputs[1], inputs[1]
launch("softmax", { grid = x.shape[1], block = 128 }, y, x, x.shape[2])
