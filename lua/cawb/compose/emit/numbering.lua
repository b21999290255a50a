-- numbering: how threads number the rows of a reduce, and whether they lie across its columns: as its elements lie in memory.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local views = require "cawb.compose.ir.view"

local M = {}

local FEWEST = 8         -- rows that lanes lie across
local APART = 32         -- neighbours that are worth another order of rows: a warp

-- Visits the nodes from x on that a kernel computes, and those in memory: note(node, indices) says whether to go on below one of these.
local function visitor(kernel, note)
  local seen, within = {}, kernel.within or {}
  local function visit(x, i)
    if seen[x] or x.source == "fill" or x.source == "iota" then return end
    seen[x] = true
    if x.strides and not within[x] and not note(x, i) then return end
    for _, input in ipairs(x.kind == "map" and x.inputs or {}) do visit(input, i) end
    for _, p in ipairs(x.kind == "view" and x.pieces or {}) do visit(x.inputs[p.input], views.at(p, i)) end
  end
  return visit
end

-- How much further an element lies in row r and column k than in the first of each.
local function apart(x, i, r, k)
  local place = index.place(i, x.strides, 0)
  return index.evaluate(place, { row = r, k = k }) - index.evaluate(place, { row = 0, k = 0 })
end

-- How far apart neighbours along rows and columns lie in the largest tensor that is read.
local function strides(kernel, row, column, inner)
  local best, found, first = -1, { 0, 0 }, kernel.members[1]
  visitor(kernel, function(x, i)
    local n = graphs.numel(x.shape)
    if n > best then best, found = n, { apart(x, i, 1, 0), apart(x, i, 0, 1) } end
  end)(first.inputs[1], inner(first, row, column))
  return found[1], found[2]
end

-- How many tensors of all rows' elements, read or written, have their neighbours along the rows, and how many across them.
local function counts(kernel, row, column, inner)
  local first, roots = kernel.members[1], lists.set(kernel.roots)
  local start, along, across = inner(first, row, column), 0, 0
  local n = graphs.numel(first.inputs[1].shape)
  local visit = visitor(kernel, function(x, i)
    local is_whole = graphs.numel(x.shape) >= n
    if is_whole and math.abs(apart(x, i, 0, 1)) == 1 then along = along + 1
    elseif is_whole and math.abs(apart(x, i, 1, 0)) == 1 then across = across + 1 end
    return roots[x]
  end)
  for _, x in ipairs(kernel.members) do visit(x.inputs[1], inner(x, row, column)) end
  for _, x in ipairs(kernel.roots) do
    if graphs.numel(x.shape) == n then visit(x, index.unravel(index.ravel(start, first.inputs[1].shape), x.shape)) end
  end
  return along, across
end

-- Whether so many more of the tensors lie along the rows that the one read first does not count.
local function is_outvoted(kernel, row, column, inner)
  local along, across = counts(kernel, row, column, inner)
  return along > 2 * across
end

--- A row's number, as an expression of a thread's: with `turned`, so many neighbours are rows that lie apart by the count of all
--- others.
function M.row(rows, turned)
  local row = index.var("row", rows)
  return turned and index.add(index.div(row, turned), index.mod(row, turned), rows // turned) or row
end

--- Whether lanes lie across the columns of a kernel's first reduce. And `turned`, if rows are numbered first by the dimensions ahead
--- of their last one, because that one's elements lie apart (parts of a long reduce, say). `inner(reduce, row, column)`: indices of
--- its input.
function M.direction(kernel, rows, columns, inner)
  local first, k = kernel.members[1], index.var("k", columns)
  local across, along = strides(kernel, M.row(rows), k, inner)
  if math.abs(along) == 1 or rows < FEWEST then return false end
  if math.abs(across) == 1 then return not is_outvoted(kernel, M.row(rows), k, inner) end
  local turned = rows // (first.shape[#first.shape] or 1)
  if turned < APART or turned == rows then return false end
  across = strides(kernel, M.row(rows, turned), k, inner)
  if math.abs(across) == 1 then return true, turned end
  return false
end

return M
