-- Rows of more than 53248 floats share a cluster of blocks. Where its part fills a multiprocessor,
-- a block stays and takes one row after another (`stay`), as many clusters at a time as
-- surely fit; smaller ones leave the overlap of loads and stores to their neighbours.
-- The row length is a tunable of one value, so that the source is compiled for it.
local x, y = inputs[1], outputs[1]
assert(x.strides[x.rank] == 1 and x.strides[1] * x.shape[1] == x.numel, "x must be contiguous")

local cols = x.shape[x.rank]
local rows = x.numel // cols
local room = 212992                      -- of the 232448 bytes that a block may have

-- Bytes of a block's part, as the source counts them.
local function part(cluster)
  local packs = (cols + 3) // 4 + (cols % 4 ~= 0 and 1 or 0)
  return 16 * ((packs + cluster - 1) // cluster)
end

local fewest = 1                         -- blocks that can hold a row
while fewest < 8 and part(fewest) > room do fewest = fewest * 2 end
local best = fewest                      -- so that three blocks fit a multiprocessor
while best < 8 and part(best) > 75000 do best = best * 2 end
local clusters = { best }
if best ~= fewest then clusters[2] = fewest elseif part(8) > 75000 then clusters[2] = 16 end

local threads = {}
for _, n in ipairs{ 512, 256, 64 } do
  if #threads < 2 and 16 * n <= math.max(part(best), 1024) then threads[#threads + 1] = n end
end

local t = tunables{ cols = { cols }, cluster = clusters, threads = threads,
                    stay = part(best) > 75000 and { 1, 0 } or { 0, 1 } }
local packs = (part(t.cluster) // 16 + t.threads - 1) // t.threads
local shared = 16 * t.threads * math.min(packs, room // 16 // t.threads)
local static = 1024 + t.cluster * t.threads // 2
local fit = math.max(1, 112 * math.min(1536 // t.threads, 233472 // (shared + static)) // t.cluster)
local many = t.stay == 1 and math.min(rows, fit) or rows
launch("softmax", { grid = many * t.cluster, block = t.threads, shared = shared,
  cluster = t.cluster }, y, x, rows)
