-- Operators that put elements in order: a node of their places, and the elements there.

local index = require "cawb.compose.index"

local M = {}

local function replaced(shape, axis, n)
  local all = { table.unpack(shape) }
  all[axis] = n
  return all
end

-- The places of the first `most` elements along an axis, in order, and these elements.
local function ordered(g, x, axis, largest, most)
  if #x.shape == 0 then return x, g:fill(0, {}, "int64") end
  local shape = replaced(x.shape, axis, most or x.shape[axis])
  local places = g:node { kind = "order", inputs = { x }, axis = axis, largest = largest, shape = shape, dtype = "int64" }
  return g:node { kind = "pick", inputs = { x, places }, axis = axis, shape = shape, dtype = x.dtype }, places
end

local function axis_of(x, dim) return (dim or -1) % math.max(1, #x.shape) + 1 end

function M.sort(g, op)
  return { ordered(g, op.x[1], axis_of(op.x[1], op.args.dim), op.args.descending == true) }
end

function M.argsort(g, op) return { M.sort(g, op)[2] } end

function M.msort(g, op) return { (ordered(g, op.x[1], 1, false)) } end

function M.topk(g, op)
  return { ordered(g, op.x[1], axis_of(op.x[1], op.args.dim), op.args.largest ~= false, op.args.k) }
end

-- The k-th smallest: the last of the first k.
function M.kthvalue(g, op)
  local x = op.x[1]
  local axis, shape = axis_of(x, op.args.dim), op.out[1].shape
  local function last(node)
    if #x.shape == 0 then return node end
    local kept = #shape == #x.shape
    return g:view(node, shape, function(i)
      local j = { table.unpack(i, 1, axis - 1) }
      j[axis] = index.const(op.args.k - 1)
      for d = kept and axis + 1 or axis, #shape do j[#j + 1] = i[d] end
      return j
    end)
  end
  local values, places = ordered(g, x, axis, false, op.args.k)
  return { last(values), last(places) }
end

return M
