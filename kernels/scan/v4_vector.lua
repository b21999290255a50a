-- One block for each row. The row length is a tunable of one value, so that the source is
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

local t = tunables{ cols = { cols }, threads = threads, packs = { 4, 8 } }
launch("scan", { grid = rows, block = t.threads }, y, x, inputs[2] or x)
