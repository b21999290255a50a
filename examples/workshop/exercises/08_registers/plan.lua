-- A block of 16 x 16 threads computes a tile of 64 x 64: each thread 4 x 4 elements. All sizes are multiples of 64.
local a, b = inputs[1], inputs[2]
local m, k, n = a.shape[1], a.shape[2], b.shape[2]
assert(m % 64 == 0 and n % 64 == 0 and k % 64 == 0, "sizes are multiples of 64")
launch("matmul", { grid = { n // 64, m // 64 }, block = { 16, 16 } }, outputs[1], a, b, n, k)
