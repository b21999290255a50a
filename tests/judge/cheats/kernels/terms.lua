local x, far = inputs[1], params["far"]
launch("terms", { grid = { far.shape[2] // 32, x.shape[1] }, block = 32 }, outputs[1], x, params["weight"], far, far.shape[2], far.shape[1])
