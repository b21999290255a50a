local x = inputs[1]
launch("of_one", { grid = (x.shape[1] + 63) // 64, block = 64 }, outputs[1], x, x.shape[1], x.shape[2])
