-- As many parts of a row as make about 500 blocks, none of less than a few thousand floats.
-- The row length is a tunable of one value, so that the source is
-- compiled for it.
local x, y = inputs[1], outputs[1]
assert(x.strides[x.rank] == 1 and x.strides[1] * x.shape[1] == x.numel, "x must be contiguous")

local cols = x.shape[x.rank]
local rows = x.numel // cols

local most = 32                          -- no more threads than packs
while most < 1024 and most * 4 < cols do most = most * 2 end
local threads = {}
for _, n in ipairs{ 1024, 512, 256, most } do
  if n <= most and n ~= threads[#threads] then threads[#threads + 1] = n end
end

local parts = math.max(1, math.min(528 // rows, cols // 8192, 65535))
local t = tunables{ cols = { cols }, parts = { parts }, threads = threads, packs = { 4, 8 } }
if parts == 1 then
  launch("scan", { grid = rows, block = t.threads }, y, x, inputs[2] or x, x)
else
  local starts = scratch{ shape = { rows, parts }, dtype = "float32" }
  launch("total", { grid = { rows, parts }, block = t.threads }, starts, x, inputs[2] or x)
  launch("before", { grid = rows, block = 32 }, starts)
  launch("scan", { grid = { rows, parts }, block = t.threads }, y, x, inputs[2] or x, starts)
end
