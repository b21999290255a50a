-- `threads` threads hold `rows` rows between them. The row length is a tunable of one
-- value, so that the source is compiled for it; so is whether there is a weight or a bias.
local x, y = inputs[1], outputs[1]
assert(x.strides[x.rank] == 1 and x.strides[1] * x.shape[1] == x.numel, "x must be contiguous")

local weight, bias
for name, p in pairs(params) do
  if string.sub(name, -6) == "weight" then weight = p end
  if string.sub(name, -4) == "bias" then bias = p end
end
local cols = weight and weight.numel or x.shape[x.rank]
local count = x.numel // cols

local threads = 32  -- so many that each holds at most 8 floats of a row, where that can be
while threads < 1024 and threads * 8 < cols do threads = threads * 2 end
local choices = { threads }
for _, n in ipairs{ threads // 2, threads < 1024 and threads * 2 or threads // 4 } do
  if n >= 32 then choices[#choices + 1] = n end
end

local t = tunables{
  cols = { cols },
  threads = choices,
  rows = { 1, 2 },
  weight = { weight and 1 or 0 },
  bias = { bias and 1 or 0 },
}
launch("layernorm", { grid = (count + t.rows - 1) // t.rows, block = t.threads },
  y, x, weight or x, bias or x, count)
