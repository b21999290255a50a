local y, x = outputs[1], inputs[1]
launch("prelu", { grid = (y.numel + 255) // 256, block = 256 }, y, x, params["act.weight"], y.numel)
