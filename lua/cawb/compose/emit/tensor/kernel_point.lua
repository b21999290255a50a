-- kernel_point: convolutions of one tap, by gathered.lua: their input is not packed.

local costs = require "cawb.compose.cost.products"
local family = require "cawb.compose.emit.tensor.family"
local gathered = require "cawb.compose.emit.tensor.gathered"
local grids = require "cawb.compose.emit.grids"
local point = require "cawb.compose.emit.tensor.point"
local shapes = require "cawb.compose.emit.tensor.conv_shape"
local tensor = require "cawb.compose.emit.tensor.tensor"
local tensor_conv = require "cawb.compose.emit.tensor.kernel_conv"

local M = {}

local FEWEST = 16                     -- channels of a group, of both sides

local numel = grids.product

--- Whether a convolution can be made here, as how it would be cut; or nil and why not. Options as of tensor_conv.
function M.serves(x, options)
  local c = x.conv
  if not point.is_point(c) then return nil, "it has more than one tap" end
  if x.dtype ~= "float32" or x.inputs[1].dtype ~= "float32" then return nil, "it is for float32" end
  if tensor.loop(options.chip, options.emulate) ~= "wgmma" then return nil, "it needs warpgroups" end
  local fine, why = tensor_conv.serves(x, options)
  if not fine then return nil, why end
  local channels, columns = shapes.each(x)
  if math.min(channels, columns) < math.min(FEWEST, options.narrowest or FEWEST) then return nil, "it has too few channels" end
  local t = gathered.shape(options.chip, numel(x.shape) // x.shape[2], columns, channels, c.groups)
  if not t then return nil, "its weights do not fit into shared memory" end
  return t
end

-- Whether a node is in memory, seen through views, and not within a kernel.
local function lies(node, within)
  local function is_stored(x) return x.stored and not (within and within[x]) end
  while node.kind == "view" and not is_stored(node) do
    if #node.pieces > 1 then return false end
    node = node.inputs[node.pieces[1].input]
  end
  return is_stored(node) or node.kind == "leaf"
end

--- Seconds. Nil if it cannot be made, is too small, or would read its input more than once (for several tiles of
--- columns), or compute it on the way.
function M.cost(x, options)
  local t, bytes = M.serves(x, options), 4 * (numel(x.inputs[1].shape) + numel(x.shape))
  if not t or bytes < costs.large(options.chip) or t.all > 1 or not lies(x.inputs[1], options.within) then return nil end
  return costs.point(options.chip, bytes, gathered.seconds(options.chip, t))
end

return family(M, function(kernel, x, options, t)
  local geometry = tensor_conv.geometry(kernel, x, options)
  geometry.cut = t
  return geometry
end)
