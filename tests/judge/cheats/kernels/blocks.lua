local a, b, c = inputs[1], inputs[2], inputs[3]
launch("blocks", { grid = { c.shape[2] // 32, c.shape[1] }, block = 32 }, outputs[1], a, b, c, a.shape[1], c.shape[2])
