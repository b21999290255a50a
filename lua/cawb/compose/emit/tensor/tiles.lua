-- tiles: how sums of products on tensor cores are cut: into tiles of rows and columns; and k into parts (split-k) if tiles are few.

local costs = require "cawb.compose.cost.products"
local template = require "cawb.compose.emit.template"

local M = { ROWS = 128, TURNED = 2 * 32 * 68 * 4 }      -- rows of a tile; bytes in which the loop `wgmma` turns results

local ceil, TILE = template.ceil, M.ROWS
local WIDEST = { wgmma = 128, mma = 64 }      -- columns of a tile at most; they are a multiple of MULTIPLE
local MULTIPLE = { wgmma = 16, mma = 32 }
local STAGES = { wgmma = 3, mma = 2 }         -- steps that are there or on their way, at most
local REST = { wgmma = 2048, mma = 0 }        -- bytes of barriers

--- Bytes of a stage of `parts` parts of both factors; of its scales, which have two places, so that they may be read while the stage is
--- filled again.
function M.stage(loop, rows, columns, parts)
  return parts * (rows + columns) * 128, loop == "mma" and 0 or 2 * (rows + columns) * 4
end

--- Shared memory of a block that multiplies tiles of `rows` by `columns`, and its stages: as many as fit, two at least; nil where they do
--- not. `turns`: whether results are turned.
function M.shared(chip, loop, rows, columns, parts, turns)
  local factors, scales = M.stage(loop, rows, columns, parts)
  local each, beside = factors + scales, turns and M.TURNED or 0
  local stages = math.min(STAGES[loop], parts > 2 and 2 or 3, (chip.shared_block - REST[loop] - beside) // each)
  if stages >= 2 then return stages * each + beside, stages end
end

--- Columns of a tile at most; nil where no tile fits.
function M.widest(chip)
  local loop, most = chip.tensor, nil
  for columns = MULTIPLE[loop], WIDEST[loop], MULTIPLE[loop] do
    if M.shared(chip, loop, loop == "mma" and TILE or TILE + 8, columns, 2, loop == "wgmma") then most = columns end
  end
  return most
end

-- Columns of a tile: as few as cover all with no more tiles.
local function tile_of(chip, columns, loop)
  return ceil(ceil(columns, ceil(columns, M.widest(chip))), MULTIPLE[loop]) * MULTIPLE[loop]
end

-- So many parts of k that every multiprocessor has a tile, and none has less than eight steps.
local function splits(g, tiles, steps)
  return math.max(1, math.min(g.chip.sms // tiles, steps // 8))
end

local FEW = 4

--- The width of tiles, and in how many parts k is cut. Where whole tiles are fewer than multiprocessors, narrower ones may be faster;
-- for a few steps it is not worth it.
function M.cut(g, loop, steps)
  local widest, down, several = tile_of(g.chip, g.columns, loop), ceil(g.rows, TILE) * g.batch * #g.sets, #g.sets > 1
  local function parts_of(tiles) return several and 1 or splits(g, tiles, steps) end
  local whole = down * ceil(g.columns, widest)
  local best, parts, least = widest, parts_of(whole), nil
  if loop ~= "wgmma" or whole >= g.chip.sms or steps < FEW or g.hidden then return best, parts end
  for across = ceil(g.columns, widest), ceil(g.columns, 32) do
    local width = ceil(ceil(g.columns, across), 16) * 16
    local all = down * ceil(g.columns, width)
    for _, count in ipairs { 1, parts_of(all) } do
      local s = costs.tiles(g.chip, all, TILE, width, WIDEST.wgmma, count, steps, g.batch * g.rows * g.columns)
      if not least or s < least then best, parts, least = width, count, s end
    end
  end
  return best, parts
end

-- ---- of 16-bit numbers as they are

local NARROWEST = 32

-- Widths of tiles: a factor whose rows are neighbours comes in powers of two.
local function widths(g, loop, turned)
  local list, widest = {}, loop == "wgmma" and 256 or 128
  if turned then
    for _, width in ipairs { 256, 128, 64, 32 } do
      if width <= widest and (width == NARROWEST or width < 2 * g.columns) then list[#list + 1] = width end
    end
    return list
  end
  for across = ceil(g.columns, widest), ceil(g.columns, NARROWEST) do
    local width = ceil(ceil(g.columns, across), 32) * 32
    if width ~= list[#list] then list[#list + 1] = width end
  end
  return list
end

--- The same of products of 16-bit numbers; `turned`: the right factor's rows are neighbours in memory; `near`: steps that share the left
--- factor's rows.
function M.cut_sixteen(g, loop, steps, turned, near)
  local best, parts, least
  local down = ceil(g.rows, TILE) * g.batch * #g.sets
  for _, width in ipairs(widths(g, loop, turned)) do
    local all = down * ceil(g.columns, width)
    local most = #g.sets == 1 and not g.hidden and math.max(1, math.min(g.chip.sms // all, steps // 4)) or 1
    for count = 1, most do
      local c = costs.sixteen(g.chip, loop, all, TILE, width, count, steps, g.batch * g.rows * g.columns, near)
      if not least or c < least then best, parts, least = width, count, c end
    end
  end
  return best, parts
end

return M
