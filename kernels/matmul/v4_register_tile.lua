-- One block for each bm x bn tile of C, one thread for each tm x tn of it.
local a, b, c = inputs[1], inputs[2], outputs[1]
local m, k, n = a.shape[1], a.shape[2], b.shape[2]
assert(c.shape[1] == m and c.shape[2] == n and b.shape[1] == k, "A, B and C must be plain matrices that fit")
assert(a.strides[1] == k and b.strides[1] == n, "A and B must be contiguous")

-- The largest tile that still makes a block or two for each multiprocessor comes first.
local function blocks(tile) return ((m + tile - 1) // tile) * ((n + tile - 1) // tile) end
local big, small = blocks(128) >= 256, blocks(64) < 128
local t = tunables{
  bm = big and { 128, 64 } or small and { 32, 64 } or { 64, 32 },
  bn = big and { 128, 64 } or small and { 32, 64 } or { 64, 32 },
  bk = big and { 8, 16 } or { 16, 8 },
  tm = { big and 8 or 4 },
  tn = { big and 8 or 4 },
}
launch("matmul",
  { grid = { (n + t.bn - 1) // t.bn, (m + t.bm - 1) // t.bm }, block = (t.bm // t.tm) * (t.bn // t.tn) },
  c, a, b, m, n, k)
