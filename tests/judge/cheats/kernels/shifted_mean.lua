local x, y, w = inputs[1], inputs[2], params["fc.weight"]
launch("shifted_mean", { grid = x.shape[1], block = 32 }, outputs[1], x, y, w, params["fc.bias"], w.shape[1], w.shape[2])
