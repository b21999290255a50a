-- sliced: products of few tiles, where latency counts. A block cuts its k into slices, and a cluster of blocks cuts k before ("slice-k" in
-- a block, "split-k" in a cluster). So nearly all factors are under way at once, and no part of a sum goes through memory.

local costs = require "cawb.compose.cost.products"
local factors = require "cawb.compose.emit.product.factors"
local template = require "cawb.compose.emit.template"

local M = {}

local ceil = template.ceil

--- Tiles: of a block, of a thread; terms of a step, so that a thread has about 32 numbers under way; slices, so that a block has 256 threads.
M.tiles = {
  { m = 64, n = 32, rows = 8, columns = 4, deep = 16, slices = 4 }, { m = 32, n = 32, rows = 4, columns = 4, deep = 32, slices = 4 },
  { m = 4, n = 64, rows = 4, columns = 4, deep = 8, slices = 16 },
}

local CLUSTER = 8            -- blocks of a cluster that any chip with clusters has
local LONGEST = 256          -- products added in a row, as in the other tiles' chains (text.lua)

-- A tile with so many blocks of a cluster; nil where its sums would be too long, or some blocks idle.
local function choice(d, chip, tile, cluster)
  local part = ceil(ceil(d.k, tile.slices * cluster), 4) * 4
  if part > LONGEST or part * tile.slices * (cluster - 1) >= d.k then return nil end
  local blocks = d.batch * ceil(d.m, tile.m) * ceil(d.n, tile.n) * cluster
  return { tile = tile, cluster = cluster, blocks = blocks, part = part, seconds = costs.sliced_tiles(chip, blocks, tile, part, cluster) }
end

--- The tile and blocks of a cluster { tile, cluster, blocks, part, seconds } that take least time, and less than `seconds`; or nil. `how`: tile and
--- splits (blocks of a cluster), where given.
function M.best(d, how, chip, seconds)
  if d.type ~= "float" then return nil end
  local least
  for _, tile in ipairs(how.tile and { M.tiles[how.tile] } or M.tiles) do
    local cluster = how.splits or 1
    while cluster <= math.min(how.splits or CLUSTER, chip.cluster) do
      local one = choice(d, chip, tile, cluster)
      if one and one.seconds < (least or { seconds = seconds }).seconds then least = one end
      cluster = 2 * cluster
    end
  end
  return least
end

--- Text and launches of a choice.
function M.made(d, choice)
  local t = choice.tile
  local h = { T = d.type, TM = t.m, TN = t.n, TK = t.deep, RM = t.rows, RN = t.columns, EACH = t.m * t.n // (t.rows * t.columns), SLICES = t.slices,
              CLUSTER = choice.cluster > 1 and choice.cluster or nil, STORE4 = d.store4 and d.n % 4 == 0 or nil }
  h.MIXA, h.MIXB = math.min(8, t.m // 4), math.min(8, t.n // 4)
  factors.read(d, h, ("threadIdx.x %% %d"):format(h.EACH))
  local launch = { kernel = d.name, grid = { choice.blocks }, block = { h.SLICES * h.EACH }, cluster = h.CLUSTER and { h.CLUSTER } or nil,
                   arguments = template.arguments(d, d.m, d.n, d.k, choice.part) }
  return template.fill("product/sliced", d, h), { launch }
end

return M
