-- guards: where the rows and columns that a view shows of a product end, as at a diagonal: whole tiles of it need not be computed.

local index = require "cawb.compose.ir.index"
local views = require "cawb.compose.ir.view"

local M = {}

--- The guards of a view at indices in `row` and `column` that are linear in both and may be negative: expressions.
function M.of(view, i)
  local piece, list = view.kind == "view" and #view.pieces == 1 and view.pieces[1], {}
  for _, e in ipairs(piece and views.guards(piece, i) or {}) do
    if e.lo < 0 and index.only(e, { row = true, column = true }) and index.stride(e, "row") and index.stride(e, "column") then list[#list + 1] = e end
  end
  return list
end

--- All guards of a view at indices in `row` and `column` that may be negative; nil where one of them is not linear in both.
function M.all(view, i)
  local list, count = M.of(view, i), 0
  for _, e in ipairs(#view.pieces == 1 and views.guards(view.pieces[1], i) or {}) do
    if e.lo < 0 then count = count + 1 end
  end
  return #view.pieces == 1 and count == #list and list or nil
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
  local words = {}
  for k, e in ipairs(list) do words[k] = extreme(e, rows, columns, row, column, 1) .. " < 0" end
  return table.concat(words, " || ")
end

--- The same of numbers: whether it is so in a tile that begins at `row` and `column`.
function M.is_nowhere(list, rows, columns, row, column)
  for _, e in ipairs(list) do
    local down, across = index.stride(e, "row"), index.stride(e, "column")
    if e.base + down * (row + (down > 0 and rows - 1 or 0)) + across * (column + (across > 0 and columns - 1 or 0)) < 0 then return true end
  end
  return false
end

--- Whether all of them hold everywhere in so many rows and columns.
function M.everywhere(list, rows, columns, row, column)
  local words = {}
  for k, e in ipairs(list) do words[k] = extreme(e, rows, columns, row, column, -1) .. " >= 0" end
  return table.concat(words, " && ")
end

return M
