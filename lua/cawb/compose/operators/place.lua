-- Operators that put elements at places which a list of whole numbers names: as scatters with that list repeated.

local move = require "cawb.compose.operators.move"
local tools = require "cawb.compose.operators.tools"

local M = {}

-- The list along one axis of x, repeated along the others.
local function spread(g, x, list, axis)
  local ones, shape = {}, { table.unpack(x.shape) }
  for d = 1, #shape do ones[d] = d == axis and list.shape[1] or 1 end
  shape[axis] = list.shape[1]
  return g:broadcast(g:reshape(list, ones), shape)
end

-- The operator on an x with dimensions; `source(list)` is what goes there, a node or nil.
local function put(join, source)
  return function(g, op)
    local x, list = op.x[1], op.by.index
    if #x.shape == 0 or #list.shape > 1 then return nil, "its tensors have no dimensions" end
    local axis = op.args.dim % #x.shape + 1
    if #list.shape == 0 then list = g:reshape(list, { 1 }) end
    local at = spread(g, x, list, axis)
    local by, args = { index = at }, { dim = axis - 1 }
    by.src, args.value = source(g, op, at)
    return move[join](g, { x = { x }, by = by, args = args, out = op.out })
  end
end

M.index_fill = put("scatter", function(g, op, at)
  if op.args.value ~= nil then return nil, op.args.value end
  return g:broadcast(tools.taken(g, op.by.value, op.x[1].dtype), at.shape)
end)

M.index_copy = put("scatter", function(_, op) return op.by.source end)

M.index_add = put("scatter_add", function(g, op)
  local source, alpha = op.by.source, op.args.alpha
  if alpha == nil or alpha == 1 then return source end
  return g:map("A * B", source.dtype, { source, g:fill(alpha, {}, source.dtype) })
end)

return M
