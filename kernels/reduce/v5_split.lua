-- As many parts of a row as make about 1000 blocks, none of less than 8192 floats.
local x, y = inputs[1], outputs[1]
assert(#outputs == 1 and y.dtype == "float32", "only the values are computed, not where they are")
assert(x.strides[x.rank] == 1 and x.strides[1] * x.shape[1] == x.numel, "x must be contiguous")

local rows = y.numel
local cols = x.numel // rows
local most = 64                          -- no more threads than packs
while most < 1024 and most * 8 < cols do most = most * 2 end
local t = tunables{ threads = most > 256 and { 256, 512, 1024 } or { most }, unroll = { 8, 4 } }

local parts = math.max(1, math.min(1056 // rows, cols // 8192))
local high = (cols + parts - 1) // parts
high = (high + 3) // 4 * 4               -- parts of an aligned row are aligned, too
parts = (cols + high - 1) // high

if parts == 1 then
  launch("reduce", { grid = rows, block = t.threads }, y, x, cols, high, 1, cols + 0.0)
else
  local left = scratch{ shape = { rows, parts }, dtype = "float32" }
  launch("reduce", { grid = rows * parts, block = t.threads }, left, x, cols, high, parts, 1.0)
  launch("reduce", { grid = rows, block = t.threads }, y, left, parts, parts, 1, cols + 0.0)
end
