-- concatenation: concatenation in place. The kernels that make the parts of a torch.cat write into slices of the whole, so that nothing
-- is copied.

local generators = require "cawb.compose.schedule.generators"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local views = require "cawb.compose.ir.view"
local prepared = require "cawb.compose.ir.prepared"

local M = {}

local makes = { conv = true, stream = true }

-- The shift of a view's piece from its tensor's own places, along each dimension; nil if it is not constant.
local function shifts_of(x, piece)
  local from, i, shifts = x.inputs[piece.input], views.variables(x.shape), {}
  if #from.shape ~= #x.shape or from.dtype ~= x.dtype then return nil end
  for d in ipairs(x.shape) do
    shifts[d] = index.number(index.add(i[d], piece.at[d], -1))
    if not shifts[d] then return nil end
  end
  return shifts, piece.guards
end

-- The axis along which a view's piece is a slice, and where it begins there; nil if the piece is no whole tensor.
local function start_of(x, piece)
  local shifts, guards = shifts_of(x, piece)
  local from, axis, first, last = x.inputs[piece.input], nil, {}, {}
  for d, size in ipairs(shifts and x.shape or {}) do
    if from.shape[d] ~= size then
      if axis then return nil end
      axis = d
    elseif shifts[d] ~= 0 then return nil end
    first["r" .. d], last["r" .. d] = shifts[d], shifts[d] + from.shape[d] - 1
  end
  local function holds(guard) return index.evaluate(guard, first) >= 0 and index.evaluate(guard, last) >= 0 end
  if axis and lists.all(guards, holds) then return axis, shifts[axis] end
end

-- The parts of a concatenation along one axis, { node, start }, and the axis; nil for any other view.
local function parts_of(x)
  if x.kind ~= "view" or #x.pieces < 2 then return nil end
  local list, along = {}, nil
  for k, piece in ipairs(x.pieces) do
    local axis, start = start_of(x, piece)
    if not axis or along and axis ~= along then return nil end
    along, list[k] = axis, { node = x.inputs[piece.input], start = start }
  end
  local ordered, place = { table.unpack(list) }, 0
  table.sort(ordered, function(p, q) return p.start < q.start end)
  for _, part in ipairs(ordered) do
    if part.start ~= place then return nil end
    place = place + part.node.shape[along]
  end
  return place == x.shape[along] and list or nil, along
end

-- Whether a node follows from a convolution element by element, with no other readers on the way.
local function follows_conv(x)
  while #x.users == 1 do
    if x.kind == "conv" then return true end
    if x.kind ~= "map" then return false end
    local below = lists.filter(x.inputs, function(input) return input.kind == "map" or input.kind == "conv" end)
    if #below ~= 1 then return false end
    x = below[1]
  end
  return false
end

--- Ahead of the partition: parts that follow from convolutions are stored, because their kernels can.
function M.wish(g)
  for _, x in ipairs(g.nodes) do
    for _, part in ipairs(parts_of(x) or {}) do
      if part.node.kind == "map" and follows_conv(part.node) then part.node.wanted = true end
    end
  end
end

-- Whether a part is made by a kernel that may write it anywhere, which a library's call cannot.
local function may_lie(state, part)
  local x, owner = part.node, state:owner(part.node)
  return owner and makes[owner.kind] and generators.accepts(owner, state.options) and not x.is_output and not x.slice_of and not prepared.is(x)
end

--- Kernels that may only concatenate results of other kernels.
function M.edges(state)
  local list = {}
  for _, k in ipairs(state.options.concatenate ~= false and state.list or {}) do
    local x = k.roots[1]
    if k.kind == "stream" and #k.roots == 1 and x.kind == "view" and #x.pieces > 1 and (x.offset or 0) == 0
      and graphs.same(x.strides, graphs.contiguous(x.shape)) then
      list[#list + 1] = { k }
    end
  end
  return list
end

--- The parts that such a kernel puts together, where their own kernels may write them into the whole: { parts, axis }.
function M.joined(state, edge)
  local parts, axis = parts_of(edge[1].roots[1])
  if not parts or not lists.all(parts, function(part) return may_lie(state, part) end) then return nil end
  local is_each_once = #lists.groups(parts, function(part) return part.node end) == #parts
  return is_each_once and { parts = parts, axis = axis }
end

--- A part gains `slice_of`, the tensor that it is a slice of, and this one `slices`.
function M.settle(state, edge, found)
  local x = edge[1].roots[1]
  x.slices = lists.map(found.parts, function(part)
    part.node.strides, part.node.offset, part.node.slice_of = x.strides, part.start * x.strides[found.axis], x
    return part.node
  end)
  state:replace(edge)
end

return M
