local c, a, b = outputs[1], inputs[1], inputs[2]
local m, k, n = a.shape[1], a.shape[2], b.shape[2]
launch("matmul", { grid = { (n + 31) // 32, (m + 7) // 8 }, block = { 32, 8 } }, c, a, b, m, n, k)
