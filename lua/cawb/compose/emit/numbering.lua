-- numbering: how threads number the rows of a reduce, and whether they lie across its columns: as its elements lie in memory.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local views = require "cawb.compose.ir.view"

local M = {}

local FEWEST = 8         -- rows that lanes lie across
local APART = 32         -- neighbours that are worth another order of rows: a warp

-- How far apart neighbours along rows and columns lie in the largest tensor that is read.
local function strides(kernel, row, column, inner)
  local best, found, first = -1, { 0, 0 }, kernel.members[1]
  local seen, within = {}, kernel.within or {}
  local function visit(x, i)
    if seen[x] or x.source == "fill" or x.source == "iota" then return end
    seen[x] = true
    if x.strides and not within[x] then
      local n = graphs.numel(x.shape)
      if n <= best then return end
      local place = index.place(i, x.strides, 0)
      local zero = index.evaluate(place, { row = 0, k = 0 })
      best, found = n, { index.evaluate(place, { row = 1, k = 0 }) - zero, index.evaluate(place, { row = 0, k = 1 }) - zero }
    elseif x.kind == "map" then
      for _, input in ipairs(x.inputs) do visit(input, i) end
    elseif x.kind == "view" then
      for _, p in ipairs(x.pieces) do visit(x.inputs[p.input], views.at(p, i)) end
    end
  end
  visit(first.inputs[1], inner(first, row, column))
  return found[1], found[2]
end

-- How many tensors of all rows' elements, read or written, have their neighbours along the rows, and how many across them.
local function counts(kernel, row, column, inner)
  local first, within, roots, seen = kernel.members[1], kernel.within or {}, lists.set(kernel.roots), {}
  local start, along, across = inner(first, row, column), 0, 0
  local n = graphs.numel(first.inputs[1].shape)
  local function note(x, i)
    local function at(r, k) return index.evaluate(index.place(i, x.strides, 0), { row = r, k = k }) end
    if math.abs(at(0, 1) - at(0, 0)) == 1 then along = along + 1
    elseif math.abs(at(1, 0) - at(0, 0)) == 1 then across = across + 1 end
  end
  local function visit(x, i)
    if seen[x] or x.source == "fill" or x.source == "iota" then return end
    seen[x] = true
    local is_stored = x.strides and not within[x]
    if is_stored and graphs.numel(x.shape) >= n then note(x, i) end
    if is_stored and not roots[x] then return end
    if x.kind == "map" then for _, input in ipairs(x.inputs) do visit(input, i) end end
    for _, p in ipairs(x.kind == "view" and x.pieces or {}) do visit(x.inputs[p.input], views.at(p, i)) end
  end
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
