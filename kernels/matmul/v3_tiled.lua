-- One block for each tile of C, one thread for each element of it.
local a, b, c = inputs[1], inputs[2], outputs[1]
local m, k, n = a.shape[1], a.shape[2], b.shape[2]
assert(c.shape[1] == m and c.shape[2] == n and b.shape[1] == k, "A, B and C must be plain matrices that fit")
assert(a.strides[1] == k and b.strides[1] == n, "A and B must be contiguous")

local t = tunables{ tile = { 32, 16 } }
launch("matmul",
  { grid = { (n + t.tile - 1) // t.tile, (m + t.tile - 1) // t.tile }, block = { t.tile, t.tile } },
  c, a, b, m, n, k)
