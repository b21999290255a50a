-- tensor/factors: how a factor of 16-bit numbers, or words of two 8-bit ones, arrives at tensor cores. It lies in memory so that threads
-- copy 16 bytes at a time, or 8 of rows that are neighbours; or a kernel of its own packs it: one that is made of parameters alone before
-- the first call.

local costs = require "cawb.compose.cost.products"
local expression = require "cawb.compose.emit.expression"
local index = require "cawb.compose.ir.index"
local prepared = require "cawb.compose.ir.prepared"
local types = require "cawb.torch.types"

local M = {}

local PIECE, HALF = 16, 8             -- bytes

--- Where the first element that a factor loads lies, as an expression of z, row and k, and its tensor; nil if the factor is no tensor.
--- Then whether that element is the factor's number, and not only a part of it.
function M.place(kernel, batch, factor)
  local body, place, from = expression.new(kernel), nil, nil
  function body.load(_, node, i)
    if not from then place, from = index.place(i, node.strides, node.offset), node end
    return "there"
  end
  local number = factor.element(body, index.var("z", batch), index.var("row", factor.rows), index.var("k", factor.depth))
  return place, from, number == "there" and #body.lines == 0
end

-- How many numbers are copied at once, of which `divides` says whether all places are multiples; or nil. Halves of pieces save the launch that
-- packs a factor: of a large one its copies would take longer.
local function copied(geometry, factor, size, along, divides)
  if divides(PIECE // size) then return PIECE // size end
  local is_small = size * geometry.batch * factor.rows * factor.depth < costs.large(geometry.chip)
  return not along and is_small and divides(HALF // size) and HALF // size or nil
end

--- A factor that lies in memory: { node, base = place of a batch's first word, stride, along = whether neighbours are along k, not rows,
--- together = how many numbers are copied at once }; nil where too few lie together. Numbers of 8 bits lie along k.
local function lying(kernel, geometry, factor)
  local place, node, is_alone = M.place(kernel, geometry.batch, factor.halves or factor)
  if not is_alone or node.dtype ~= (factor.dtype or geometry.dtype) then return nil end
  local each = factor.halves and 2 or 1
  local rows, terms = index.stride(place, "row"), index.stride(place, "k")
  local along = terms == 1
  local stride, inner = along and rows or terms, along and each * factor.depth or factor.rows
  local base = index.bind(place, { row = index.const(0), k = index.const(0) })
  if not (along or rows == 1 and each == 1) or not stride then return nil end
  local function divides(n) return stride % n == 0 and inner % n == 0 and index.divisible(base, n) end
  local together = copied(geometry, factor, types.size(node.dtype), along, divides)
  return together and { node = node, base = index.div(base, each), stride = stride // each, along = along, together = together } or nil
end

--- A factor by name, "left" or "right": as `lying` has it, or { packed = true, before = before the first call? }. `shifts`: its rows are
--- needed from any row on.
function M.arrival(kernel, geometry, side, shifts)
  local there = not shifts and lying(kernel, geometry, geometry[side])
  if there and not prepared.is(there.node) then return there end
  return { packed = true, along = true }
end

return M
