-- scaled_factor: weights along the summed dimension of a product move to the factor that is known before the first call: (a w) b is
-- a (w b). Then no pass goes over the larger tensor. A NaN or an infinity reaches the same results either way.

local index = require "cawb.compose.ir.index"
local match = require "cawb.compose.ir.tree.match"
local view = require "cawb.compose.ir.view"
local views = require "cawb.compose.rewrite.views"

local M = { says = "weights of a product's terms go into the factor that parameters make up" }

-- The map that a factor is, through views that nobody else reads, and where an element of the factor lies in it.
local function weighted(g, x)
  local at, all = function(i) return i end, x.shape
  while view.plain(x) and #x.users == 1 and not g.shown[x] do
    local before, piece = at, x.pieces[1]
    x, at = x.inputs[1], function(i) return view.at(piece, before(i)) end
  end
  local is = x.kind == "map" and match.is(x.expression, "A * B") and #x.users == 1 and not g.shown[x]
  return is and x or nil, at, all
end

-- The weights as the other factor has its terms. `side`: of the factor that they multiply; its own dimension has one place then.
local function turned(g, w, other, side)
  local rank = #other.shape
  return g:view(w, other.shape, function(i)
    local j = { table.unpack(i) }
    j[rank - 1], j[rank] = index.const(0), i[rank - 1]
    if side == 2 then j[rank - 1], j[rank] = i[rank], index.const(0) end
    return j
  end)
end

local function moved(g, x, side)
  local factor, other = x.inputs[side], x.inputs[3 - side]
  local map, at, shape = weighted(g, factor)
  if not map or not views.is_batched_alike(factor, other) or not views.is_given(other) or views.is_given(factor) then return nil end
  for k = 1, 2 do
    local w, v = map.inputs[k], map.inputs[3 - k]
    if w.dtype == x.dtype and v.dtype == x.dtype and views.is_given(w) then
      local seen = g:view(w, shape, at)
      if views.is_constant(seen, { [#shape - 2 + side] = true }) then
        local both = { [side] = g:view(v, shape, at), [3 - side] = g:map("A * B", x.dtype, { other, turned(g, seen, other, side) }), [3] = x.inputs[3] }
        return g:node { kind = "product", own = x.own, inputs = both, shape = x.shape, dtype = x.dtype }
      end
    end
  end
end

function M.apply(g, x)
  if x.kind ~= "product" or not views.is_real(x) or x.inputs[1] == x.inputs[2] then return nil end
  return moved(g, x, 1) or moved(g, x, 2)
end

return M
