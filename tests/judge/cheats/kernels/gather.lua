local y, x, index = outputs[1], inputs[1], inputs[2]
launch("gather", { grid = index.numel, block = 32 }, y, x, index, x.shape[2])
