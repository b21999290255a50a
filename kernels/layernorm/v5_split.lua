-- A part has 32 floats for each thread. The row length is a tunable of one value, so that the
-- source is compiled for it; so is whether there is a weight or a bias.
local x, y = inputs[1], outputs[1]
assert(x.strides[x.rank] == 1 and x.strides[1] * x.shape[1] == x.numel, "x must be contiguous")

local weight, bias
for name, p in pairs(params) do
  if string.sub(name, -6) == "weight" then weight = p end
  if string.sub(name, -4) == "bias" then bias = p end
end
local cols = weight and weight.numel or x.shape[x.rank]
local count = x.numel // cols

local threads = {}
for _, n in ipairs{ 256, 512, 128, 32 } do
  if #threads < 3 and 8 * n <= math.max(cols, 256) then threads[#threads + 1] = n end
end

local t = tunables{
  cols = { cols },
  threads = threads,
  weight = { weight and 1 or 0 },
  bias = { bias and 1 or 0 },
}
local parts = (cols + 32 * t.threads - 1) // (32 * t.threads)
local left = scratch(12 * count * parts) -- number, mean and spread of each part
launch("measure", { grid = count * parts, block = t.threads }, left, x)
launch("finish", { grid = count, block = 32 }, left)
launch("layernorm", { grid = count * parts, block = t.threads }, y, x, weight or x, bias or x, left)
