local a, b, w = inputs[1], inputs[2], params["w"]
local m, k, n = a.shape[1], a.shape[2], b.shape[2]
local right = scratch{ shape = { k, n }, dtype = "float32" }
launch("product", { grid = { n // 32, k }, block = 32 }, right, b, w, n, n)
launch("product", { grid = { n // 32, m }, block = 32 }, outputs[1], a, right, k, n)
