-- guards: where the rows and columns that a view shows of a product end, as at a diagonal: whole tiles of it need not be computed.

local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local views = require "cawb.compose.ir.view"

local M = {}

-- The guards of a view of one piece at indices that may be negative.
local function doubtful(view, i)
  local piece = view.kind == "view" and #view.pieces == 1 and view.pieces[1]
  return lists.filter(piece and views.guards(piece, i) or {}, function(e) return e.lo < 0 end)
end

--- The guards of a view at indices in `row` and `column` that are linear in both and may be negative: expressions.
function M.of(view, i)
  return lists.filter(doubtful(view, i), function(e)
    return index.only(e, { row = true, column = true }) and index.stride(e, "row") and index.stride(e, "column")
  end)
end

--- All guards of a view at indices in `row` and `column` that may be negative; nil where one of them is not linear in both.
function M.all(view, i)
  local list = M.of(view, i)
  return #view.pieces == 1 and #doubtful(view, i) == #list and list or nil
end

-- C of the largest, or least, value of a guard in so many rows and columns.
local function extreme(e, rows, columns, row, column, sign)
  local function part(name, size, first)
    local factor = index.stride(e, name)
    return ("%d * (%s + %d)"):format(factor, first, factor * sign > 0 and size - 1 or 0)
  end
  return ("%d + %s + %s"):format(e.base, part("row", rows, row), part("column", columns, column))
end

--- Whether one of them is negative in all of so many rows and columns, as C; `row` and `column`: C of the first ones.
function M.nowhere(list, rows, columns, row, column)
  return table.concat(lists.map(list, function(e) return extreme(e, rows, columns, row, column, 1) .. " < 0" end), " || ")
end

--- The same of numbers: whether it is so in a tile that begins at `row` and `column`.
function M.is_nowhere(list, rows, columns, row, column)
  return lists.any(list, function(e)
    local down, across = index.stride(e, "row"), index.stride(e, "column")
    return e.base + down * (row + (down > 0 and rows - 1 or 0)) + across * (column + (across > 0 and columns - 1 or 0)) < 0
  end)
end

--- Whether all of them hold everywhere in so many rows and columns.
function M.everywhere(list, rows, columns, row, column)
  return table.concat(lists.map(list, function(e) return extreme(e, rows, columns, row, column, -1) .. " >= 0" end), " && ")
end

return M
