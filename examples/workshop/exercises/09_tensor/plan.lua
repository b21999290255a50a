-- A warp for each 16 x 16 elements, four of them in a block. All sizes are multiples of 64.
local a, b = inputs[1], inputs[2]
local m, k, n = a.shape[1], a.shape[2], b.shape[2]
assert(m % 64 == 0 and n % 16 == 0 and k % 16 == 0, "m is a multiple of 64, n and k of 16")
launch("matmul", { grid = { n // 16, m // 64 }, block = 128 }, outputs[1], a, b, n, k)
