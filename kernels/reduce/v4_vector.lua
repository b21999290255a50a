-- `threads` threads share a row; rows too short for 128 threads share a block. The row
-- length is a tunable of one value, so that the source is compiled for it.
local x, y = inputs[1], outputs[1]
assert(#outputs == 1 and y.dtype == "float32", "only the values are computed, not where they are")
assert(x.strides[x.rank] == 1 and x.strides[1] * x.shape[1] == x.numel, "x must be contiguous")

local count = y.numel
local cols = x.numel // count

local threads = 32  -- so many that each reads at most 16 floats, where that can be
while threads < 1024 and threads * 16 < cols do threads = threads * 2 end
local choices = { threads }
for _, n in ipairs{ threads // 2, threads < 1024 and threads * 2 or threads // 4 } do
  if n >= 32 then choices[#choices + 1] = n end
end

local t = tunables{
  cols = { cols },
  threads = choices,
  rows = { math.max(1, 128 // threads) },
  unroll = { 8, 4 },
}
launch("reduce", { grid = (count + t.rows - 1) // t.rows, block = { t.threads, t.rows } },
  y, x, count)
