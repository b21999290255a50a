-- tensor/point: convolutions of one tap and stride 1 as products of matrices, one for each image: weights x pixels. The pixels of a channel are
-- neighbours in memory as they are, so that nothing is packed, and neighbours of a result's row are written together.

local epilogue = require "cawb.compose.emit.tensor.epilogue"
local grids = require "cawb.compose.emit.grids"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"

local M = {}

local FOUR = 4                        -- pixels that lie together, at least

local numel = grids.product

--- Whether a convolution has one tap that reads where it writes, by its stride.
function M.is_point(c)
  return not c.transposed and lists.all(c.taps, function(n, d) return n == 1 and c.padding[d] == 0 end)
end

--- Whether its pixels can be read as they lie.
function M.lies(x)
  local c = x.conv
  return M.is_point(c) and numel(c.stride) == 1 and c.groups == 1 and numel { table.unpack(x.shape, 3) } % FOUR == 0
end

--- Whether it is done so: half of a tile's rows are output channels, at least.
function M.serves(x, rows)
  local channels = x.shape[2]
  return M.lies(x) and 2 * channels >= (channels + rows - 1) // rows * rows
end

-- Writes what follows the sums of neighbouring pixels.
local function write(body, x, root, names)
  local z, row, space = index.var("z", x.shape[1]), index.var("row", x.shape[2]), { table.unpack(x.shape, 3) }
  local first = index.scale(index.var(#names == 2 and "pair" or "octet", numel(space) // #names), #names)
  body.known_only = { [x] = true }
  local list = lists.map(names, function(_, lane) return { z, row, table.unpack(index.unravel(index.plus(first, lane - 1), space)) } end)
  body:store_all(root, list, lists.map(names, function(name, lane) return epilogue.value(body, x, root, list[lane], name, { row }) end))
end

--- A geometry of tensor.lua, of numbers of 16 bits.
function M.geometry(x, chip)
  local from, weights, space = x.inputs[1], x.inputs[2], { table.unpack(x.shape, 3) }
  local depth, ones = from.shape[2], lists.times(#space, function() return index.const(0) end)
  return { what = ("a convolution of %d channels to %d, one tap"):format(depth, x.shape[2]), chip = chip, dtype = x.inputs[1].dtype, eight = true,
    terms = depth, batch = x.shape[1], rows = x.shape[2], columns = numel(space), sets = { { 0 } },
    left = { rows = x.shape[2], depth = depth, along = true, alike = true, element = function(body, _, row, k) return body:value(weights, { row, k, table.unpack(ones) }) end },
    right = { rows = numel(space), depth = depth, along = false,
              element = function(body, z, row, k) return body:value(from, { z, k, table.unpack(index.unravel(row, space)) }) end },
    write = function(body, root, names) write(body, x, root, names) end }
end

return M
