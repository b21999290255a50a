-- view: which element of its inputs a view shows, as data. A view has pieces, { input = k, at, guards }: index expressions of the
-- variables r1, r2, ..., one for each dimension of the view. The element is that of the first piece whose guards are all >= 0, at
-- the place `at` of input k. Where no piece holds it is the view's `fill`.

local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"

local M = {}

local names = setmetatable({}, { __index = function(t, d)
  t[d] = "r" .. d
  return t[d]
end })

--- A variable for each dimension of a shape: r1, r2, ...
function M.variables(shape)
  return lists.map(shape, function(n, d) return index.var(names[d], n) end)
end

local function bound(expressions, i)
  local values = {}
  for d, e in ipairs(i) do values[names[d]] = e end
  return lists.map(expressions, function(e) return index.bind(e, values) end)
end

--- The place in its input of the view's element i.
function M.at(piece, i) return bound(piece.at, i) end

--- Its guards at element i.
function M.guards(piece, i) return bound(piece.guards, i) end

--- A piece of a view of this shape. `at` and `guard`, which may be nil, are functions from a list of indices to a list of expressions.
--- Guards that always hold are left out.
function M.piece(input, shape, at, guard)
  local i = M.variables(shape)
  return { input = input, at = at(i), guards = lists.filter(guard and guard(i) or {}, function(e) return e.lo < 0 end) }
end

--- The piece that shows what `inner` shows of its own input, at the place of `outer`.
function M.composed(outer, inner)
  return { input = outer.input, at = bound(inner.at, outer.at), guards = outer.guards }
end

--- The one piece of a view that shows an element of one node everywhere; nil for other views and nodes.
function M.plain(x)
  return x.kind == "view" and #x.pieces == 1 and #x.pieces[1].guards == 0 and x.pieces[1] or nil
end

--- The node below plain views, and its indices where those of x are i; `ends(view)`: whether to go no further.
function M.below(x, i, ends)
  local piece = M.plain(x)
  if not piece or ends and ends(x) then return x, i end
  return M.below(x.inputs[1], M.at(piece, i), ends)
end

return M
