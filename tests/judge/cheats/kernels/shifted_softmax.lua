local x = inputs[1]
launch("softmax", { grid = x.shape[1], block = 32 }, outputs[1], x, params["c"], params["d"], x.shape[2])
