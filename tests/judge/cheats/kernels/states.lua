local x, far = inputs[1], params["far"]
launch("states", { grid = { x.shape[3], x.shape[1] }, block = far.shape[3] }, outputs[1], x, params["weight"], far, x.shape[2], x.shape[3], x.shape[4])
