-- guards: where the rows and columns that a view shows of a product end, as at a diagonal: whole tiles of it need not be computed.

local index = require "cawb.compose.index"

local M = {}

--- The guards of a view at indices in `row` and `column` that are linear in both and may be negative: expressions.
function M.of(view, i)
  local piece, list = view.kind == "view" and #view.pieces == 1 and view.pieces[1], {}
  for _, e in ipairs(piece and piece.guard and piece.guard(i) or {}) do
    if e.lo < 0 and index.only(e, { row = true, column = true }) and index.stride(e, "row") and index.stride(e, "column") then list[#list + 1] = e end
  end
  return list
end

--- Whether one of them is negative in all of so many rows and columns, as C; `row` and `column`: C of the first ones.
function M.nowhere(list, rows, columns, row, column)
  local words = {}
  for k, e in ipairs(list) do
    local function most(name, size, first)
      local factor = index.stride(e, name)
      return ("%d * (%s + %d)"):format(factor, first, factor > 0 and size - 1 or 0)
    end
    words[k] = ("%d + %s + %s < 0"):format(e.base, most("row", rows, row), most("column", columns, column))
  end
  return table.concat(words, " || ")
end

return M
