-- mean_of_norm: the mean of a norm's results follows from sums of the norm's input. A norm scales and shifts many elements alike, so the
-- sum of its results follows from the sum of the elements. The tensor is not read again (split/split.lua takes both sums in one pass).
-- A NaN or an infinity stays: the difference of the means is then NaN, as each element is.

local degree = require "cawb.compose.ir.tree.degree"
local graphs = require "cawb.compose.ir.graph"
local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"
local views = require "cawb.compose.rewrite.views"

local M = { says = "its sum follows from that of what is normalised" }

-- Axes along which only one operand varies, the same operand for all axes: the set, and the operand's number.
local function inner(m, axes)
  local set, which = {}, nil
  for d in pairs(axes) do
    local one, more = views.varying(m, { [d] = true })
    if one and not more and (which or one) == one then set[d], which = true, one end
  end
  return set, which
end

-- Whether a norm takes a mean of u: then u is gone through for that anyway.
local function has_sum(u)
  return lists.any(u.users, function(x)
    return views.is_sum(x) and x.inputs[1] == u or x.kind == "view" and lists.any(x.users, views.is_sum)
  end)
end

-- The reduces that other nodes name. It is made once for a list of nodes, which only grows.
local function named(g)
  local found = g.counted or { count = 0 }
  for k = found.count + 1, #g.nodes do
    local y = g.nodes[k]
    if y.about then found[y.about] = true end
    if y.rest then found[y.rest] = true end
  end
  g.counted, found.count = found, #g.nodes
  return found
end

-- Whether another node counts on x being this reduce.
local function is_counted_on(g, x) return x.about ~= nil or named(g)[x] == true end

local function at_mean(g, m, k, axes)
  return lists.map(m.inputs, function(input, j)
    return j == k and tools.divided(g, g:reduce("sum", input, axes), tools.count(m.shape, axes)) or views.dropped(g, input, axes)
  end)
end

-- The axes as they are numbered after the dimensions `gone` are dropped.
local function rest(shape, axes, gone)
  local left, at = {}, 0
  for d = 1, #shape do
    at = at + (gone[d] and 0 or 1)
    if axes[d] and not gone[d] then left[at] = true end
  end
  return left
end

function M.apply(g, x)
  local m = views.is_sum(x) and x.inputs[1]
  if not m or m.kind ~= "map" or m.cast ~= m.dtype or m.casts or not views.is_real(x) or x.dtype ~= m.dtype then return nil end
  local axes, k = inner(m, x.axes)
  if not k or tools.count(m.shape, axes) < 2 or graphs.numel(m.shape) == 0 or not degree.is_linear(m.expression, { [k] = true }) then return nil end
  local u = m.inputs[k]
  if u.kind == "view" or u.dtype ~= m.dtype or not has_sum(u) or is_counted_on(g, x) then return nil end
  local mean = g:map(m.expression, m.dtype, at_mean(g, m, k, axes))
  local sum = g:map("A * B", m.dtype, { mean, g:fill(tools.count(m.shape, axes), {}, m.dtype) })
  local left = rest(m.shape, x.axes, axes)
  return next(left) and g:reduce("sum", sum, left) or sum
end

return M
