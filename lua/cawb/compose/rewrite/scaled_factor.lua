-- scaled_factor: weights along the summed dimension of a product move to the factor that is known before the first call: (a w) b is
-- a (w b). Then no pass goes over the larger tensor. A NaN or an infinity reaches the same results either way.

local index = require "cawb.compose.ir.index"
local match = require "cawb.compose.ir.tree.match"
local view = require "cawb.compose.ir.view"
local views = require "cawb.compose.rewrite.views"

local M = { says = "weights of a product's terms go into the factor that parameters make up" }

-- The map that a factor is, through views that nobody else reads, and where an element of the factor lies in it.
local function weighted(g, x)
  local function is_shared(y) return #y.users > 1 or g.shown[y] end
  local map = view.below(x, view.variables(x.shape), is_shared)
  local is = map.kind == "map" and match.is(map.expression, "A * B") and not is_shared(map)
  return is and map or nil, function(i) return select(2, view.below(x, i, is_shared)) end
end

-- The weights as the other factor has its terms. `side`: of the factor that they multiply; its own dimension has one place then.
local function turned(g, w, other, side)
  local rank = #other.shape
  return g:view(w, other.shape, function(i)
    local first = index.const(0)
    return side == 2 and index.with(i, rank - 1, i[rank], rank, first) or index.with(i, rank - 1, first, rank, i[rank - 1])
  end)
end

local function moved(g, x, side)
  local factor, other = x.inputs[side], x.inputs[3 - side]
  local map, at = weighted(g, factor)
  if not map or not views.is_batched_alike(factor, other) or not views.is_given(other) or views.is_given(factor) then return nil end
  for k = 1, 2 do
    local w, v = map.inputs[k], map.inputs[3 - k]
    if w.dtype == x.dtype and v.dtype == x.dtype and views.is_given(w) then
      local seen = g:view(w, factor.shape, at)
      if views.is_constant(seen, { [#factor.shape - 2 + side] = true }) then
        local both = { [side] = g:view(v, factor.shape, at), [3 - side] = g:map("A * B", x.dtype, { other, turned(g, seen, other, side) }), [3] = x.inputs[3] }
        return g:like(x, both)
      end
    end
  end
end

function M.apply(g, x)
  if x.kind ~= "product" or not views.is_real(x) or x.inputs[1] == x.inputs[2] then return nil end
  return moved(g, x, 1) or moved(g, x, 2)
end

return M
