-- Diagonals, and writes into a part of a copy.

local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"

local M = {}

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
