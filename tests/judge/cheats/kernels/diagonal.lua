local y, a, b = outputs[1], inputs[1], inputs[2]
launch("scale_rows", { grid = { (b.shape[2] + 63) // 64, b.shape[1] }, block = 64 }, y, a, b, b.shape[2])
