-- Copies of views, turned planes, elements taken by their number in a whole tensor; diagonals, and writes into a part of a copy.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"

local M = {}

local function reshaped(g, op)
  local x, out = op.x[1], op.out[1]
  if x.dtype ~= out.dtype then return nil, ("it takes the bytes of %s for %s"):format(x.dtype, out.dtype) end
  return { g:reshape(x, out.shape) }
end

M.view_copy, M._reshape_copy, M.unsqueeze_copy, M.squeeze_copy = reshaped, reshaped, reshaped, reshaped

local function swapped(g, x, a, b)
  local order = lists.times(#x.shape, function(d) return d end)
  return { g:permute(x, #order > 0 and index.with(order, a, b, b, a) or order) }
end

function M.t_copy(g, op) return swapped(g, op.x[1], 1, math.max(1, #op.x[1].shape)) end

function M.transpose_copy(g, op)
  local rank = #op.x[1].shape
  return swapped(g, op.x[1], tools.axis(op.args.dim0, 0, rank), tools.axis(op.args.dim1, 0, rank))
end

function M.permute_copy(g, op)
  return { g:permute(op.x[1], lists.map(op.args.dims, function(d) return d % #op.x[1].shape + 1 end)) }
end

function M.narrow_copy(g, op)
  local x = op.x[1]
  local axis = tools.axis(op.args.dim, 0, #x.shape)
  return { g:slice(x, axis, (op.args.start or 0) % math.max(1, x.shape[axis]), op.out[1].shape[axis]) }
end

local function split(g, op)
  local x, past = op.x[1], 0
  local axis = tools.axis(op.args.dim, 0, #x.shape)
  return lists.map(op.out, function(out)
    past = past + out.shape[axis]
    return g:slice(x, axis, past - out.shape[axis], out.shape[axis])
  end)
end

M.split_copy, M.split_with_sizes_copy = split, split

function M.unbind_copy(g, op)
  local x, axis = op.x[1], tools.axis(op.args.dim, 0, #op.x[1].shape)
  return lists.map(op.out, function(out, k) return g:reshape(g:slice(x, axis, k - 1, 1), out.shape) end)
end

function M.rot90(g, op)
  local x, dims = op.x[1], op.args.dims or { 0, 1 }
  local a, b, quarters = dims[1] % #x.shape + 1, dims[2] % #x.shape + 1, (op.args.k or 1) % 4
  return { g:view(x, op.out[1].shape, function(i)
    local e, f = i[a], i[b]
    if quarters % 2 == 1 then e, f = f, e end
    return index.with(i, a, quarters >= 2 and index.back(e, x.shape[a]) or e, b, (quarters == 1 or quarters == 2) and index.back(f, x.shape[b]) or f)
  end) }
end

-- Rows by number: dimensions of the index take the place of x's axis.
local function taken_along(g, x, at, axis, shape)
  local rank = #at.shape
  local where = g:view(at, shape, function(i) return { table.unpack(i, axis, axis + rank - 1) } end)
  if rank == 0 then
    local one = { table.unpack(shape) }
    table.insert(one, axis, 1)
    return g:reshape(g:pick(x, g:broadcast(g:reshape(at, {}), one), axis), shape)
  end
  -- x with the index's dimensions behind the picked one, which it does not depend on
  local source = g:view(x, index.with(shape, axis, x.shape[axis]), function(i)
    return lists.joined({ table.unpack(i, 1, axis) }, { table.unpack(i, axis + rank) })
  end)
  return g:pick(source, where, axis)
end

function M.embedding(g, op)
  return { taken_along(g, op.by.weight, op.by.indices, 1, op.out[1].shape) }
end

function M.index_select(g, op)
  local x = op.x[1]
  if #x.shape == 0 then return { g:broadcast(x, op.out[1].shape) } end
  return { taken_along(g, x, op.by.index, op.args.dim % #x.shape + 1, op.out[1].shape) }
end

function M.gather(g, op)
  if #op.x[1].shape == 0 then return { g:broadcast(op.x[1], op.out[1].shape) } end
  return { g:pick(op.x[1], op.by.index, op.args.dim % #op.x[1].shape + 1) }
end

-- x[a, b, ...]: index tensors for dimensions that are neighbours, behind some that are whole.
function M.index(g, op)
  local x, list = op.by.self, { table.unpack(op.x, 2) }
  local given, axis = op.given.indices or {}, 1
  while given[axis] == false do axis = axis + 1 end
  local function is_missing(_, k) return given[axis + k - 1] == false end
  if lists.any(list, is_missing) then return nil, "its index tensors are not for neighbouring dimensions" end
  if list[1].dtype == "bool" then return nil, "an index of truth values makes shapes that follow from data; torch.where, or a product with the mask, keeps them" end
  local together = graphs.together(list)
  local node, at = x, list[1]
  if #list > 1 then node, at = tools.flattened(g, x, list, axis) end
  return { taken_along(g, node, g:broadcast(at, together), axis, op.out[1].shape) }
end

function M.take(g, op)
  local x, at = g:flat(op.x[1]), g:flat(op.by.index)
  return { g:reshape(g:pick(x, at, 1), op.out[1].shape) }
end

-- Where the mask is set the source's elements, one after the other.
function M.masked_scatter(g, op)
  local out = op.out[1].shape
  local mask, source = g:flat(g:broadcast(op.by.mask, out)), g:flat(op.by.source)
  local at = tools.in_turn(g, mask, graphs.numel(source.shape))
  local joined = g:map("(A ? B : C)", op.out[1].dtype, { mask, g:pick(source, at, 1), g:flat(g:broadcast(op.x[1], out)) }, nil, { "bool" })
  return { g:reshape(joined, out) }
end

-- Of vectors of three along an axis: each part is made of the other two.
function M.linalg_cross(g, op)
  local out, dtype = op.out[1].shape, op.out[1].dtype
  local axis = (op.args.dim or -1) % #out + 1
  local function turned(x, by)
    local wide = g:broadcast(tools.taken(g, x, dtype), out)
    return g:view(wide, out, function(i) return index.with(i, axis, (i[axis] + by) % 3) end)
  end
  local x, y = op.x[1], op.x[2]
  local text = dtype:find "float" and "exact(exact(A * B) - exact(C * D))" or "A * B - C * D"
  return { g:map(text, dtype, { turned(x, 1), turned(y, 2), turned(x, 2), turned(y, 1) }) }
end

-- ---- diagonals, and parts of a copy

-- The two dimensions of a diagonal's plane, by these defaults, its offset, and the other dimensions in order.
local function plane(op, rank, first, second)
  local a, b = tools.axis(op.args.dim1, first, rank), tools.axis(op.args.dim2, second, rank)
  return a, b, op.args.offset or 0, lists.filter(lists.times(rank, function(d) return d end), function(d) return d ~= a and d ~= b end)
end

-- In the plane of dimensions a and b: for an index i the place along the diagonal, and the guards that hold only on it.
local function diagonal(i, a, b, offset)
  local off = i[b] - i[a] - offset
  return offset < 0 and i[b] or i[a], { off, -off }
end

-- An index of the whole as one of the diagonal, which is the last dimension.
local function on(i, rest, place)
  return lists.append(lists.map(rest, function(d) return i[d] end), { place })
end

function M.diag_embed(g, op)
  local out = op.out[1].shape
  local a, b, offset, rest = plane(op, #out, -2, -1)
  local view = g:view(op.x[1], out, function(i) return on(i, rest, (diagonal(i, a, b, offset))) end,
    function(i) return (select(2, diagonal(i, a, b, offset))) end, 0)
  view.diagonal = { a = a, b = b, offset = offset }
  return { view }
end

function M.diagonal_copy(g, op)
  local x, out = op.x[1], op.out[1].shape
  local a, b, offset, rest = plane(op, #x.shape, 0, 1)
  return { g:view(x, out, function(i)
    local j = { [a] = i[#out] + math.max(0, -offset), [b] = i[#out] + math.max(0, offset) }
    for k, d in ipairs(rest) do j[d] = i[k] end
    return j
  end) }
end

-- x, where `inside` has no place in y for an index.
local function written(g, x, y, inside)
  return { g:join(x.shape, { { y, function(i) return (inside(i)) end, function(i) return (select(2, inside(i))) end },
    { x, function(i) return i end } }) }
end

function M.diagonal_scatter(g, op)
  local x, y = op.x[1], op.by.src
  local a, b, offset, rest = plane(op, #x.shape, 0, 1)
  return written(g, x, y, function(i)
    local place, guards = diagonal(i, a, b, offset)
    return on(i, rest, place), guards
  end)
end

function M.select_scatter(g, op)
  local x, d = op.x[1], tools.axis(op.args.dim, 0, #op.x[1].shape)
  local n = op.args.index % x.shape[d]
  return written(g, x, op.by.src, function(i)
    local j = { table.unpack(i) }
    table.remove(j, d)
    return j, { i[d] - n, n - i[d] }
  end)
end

function M.slice_scatter(g, op)
  local x, y, d = op.x[1], op.by.src, tools.axis(op.args.dim, 0, #op.x[1].shape)
  local first, step = op.args.start or 0, op.args.step or 1
  if first < 0 then first = first + x.shape[d] end
  return written(g, x, y, function(i)
    local from = i[d] - first
    return index.with(i, d, from // step), { from, -(from % step), index.back(from // step, y.shape[d]) }
  end)
end

-- Blocks along a diagonal, zeros elsewhere. The view says where they are, in the order of its pieces.
function M.block_diag(g, op)
  local out, pieces, blocks, down, across = op.out[1], {}, {}, 0, 0
  for k, x in ipairs(op.x) do
    local rows, columns = #x.shape == 2 and x.shape[1] or 1, #x.shape > 0 and x.shape[#x.shape] or 1
    local r, c = down, across
    local function at(i) return { i[1] - r, i[2] - c } end
    pieces[k] = { g:reshape(tools.taken(g, x, out.dtype), { rows, columns }), at,
      function(i) return lists.append(at(i), { index.back(i[1], r + rows), index.back(i[2], c + columns) }) end }
    blocks[k] = { down = r, across = c, rows = rows, columns = columns }
    down, across = down + rows, across + columns
  end
  pieces[#pieces + 1] = { g:fill(0, {}, out.dtype), function() return {} end }
  local view = g:join(out.shape, pieces)
  view.blocks = blocks
  return { view }
end

return M
