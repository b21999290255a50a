-- One thread for each element of C; a warp is 32 rows of one column.
local a, b, c = inputs[1], inputs[2], outputs[1]
local m, k, n = a.shape[1], a.shape[2], b.shape[2]
assert(c.shape[1] == m and c.shape[2] == n and b.shape[1] == k, "A, B and C must be plain matrices that fit")
assert(a.strides[1] == k and b.strides[1] == n, "A and B must be contiguous")

launch("matmul", { grid = { (m + 31) // 32, (n + 7) // 8 }, block = { 32, 8 } }, c, a, b, m, n, k)
