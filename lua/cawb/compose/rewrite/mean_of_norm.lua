-- mean_of_norm: the mean of a norm's results follows from sums of the norm's input. A norm scales and shifts many elements alike, so the
-- sum of its results follows from the sum of the elements. The tensor is not read again (split/split.lua takes both sums in one pass).
-- Over all axes of the norm only its bias remains: the differences from a mean add up to zero. A NaN or an infinity stays: the
-- difference of the means is then NaN, as each element is.

local degree = require "cawb.compose.ir.tree.degree"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local match = require "cawb.compose.ir.tree.match"
local tools = require "cawb.compose.operators.tools"
local tree = require "cawb.compose.ir.tree"
local view = require "cawb.compose.ir.view"
local views = require "cawb.compose.rewrite.views"

local M = { says = "its sum follows from that of what is normalised" }

local float = { float32 = true, float64 = true }

-- In a norm that corrects the rounding error L of its mean.
local LOST = "exact(exact(X - M) * S) - exact(L * S)"

-- Axes along which only one operand varies, the same operand for all axes: the set, and the operand's number.
local function inner(m, axes)
  local set, which = {}, nil
  for d in pairs(axes) do
    local one, count = nil, 0
    for k, input in ipairs(m.inputs) do
      if not views.is_constant(input, { [d] = true }) then one, count = k, count + 1 end
    end
    if count == 1 and (which or one) == one then set[d], which = true, one end
  end
  return set, which
end

-- Whether x is a sum.
local function is_sum(x) return x.kind == "reduce" and x.op == "sum" end

-- Whether a norm takes a mean of u: then u is gone through for that anyway.
local function has_sum(u)
  for _, x in ipairs(u.users) do
    if is_sum(x) and x.inputs[1] == u then return true end
    for _, y in ipairs(x.kind == "view" and x.users or {}) do if is_sum(y) then return true end end
  end
  return false
end

-- Whether another node counts on x being this reduce.
local function is_counted_on(g, x)
  for _, y in ipairs(g.nodes) do if y.about == x or y.rest == x then return true end end
  return x.about ~= nil
end

-- ---- a mean of the same elements

local function same_set(a, b)
  for d in pairs(a) do if not b[d] then return false end end
  for d in pairs(b) do if not a[d] then return false end end
  return true
end

-- Whether reduce r adds up u over exactly these axes.
local function adds_up(r, u, axes)
  local from = r.inputs[1]
  if from == u then return same_set(r.axes, axes) end
  if from.kind ~= "view" or from.inputs[1] ~= u then return false end
  local lots = views.lots(from)
  local gone, times
  if lots then gone, times = views.inner(from, lots, r.axes) end
  if not gone or times ~= 1 then return false end
  for d in pairs(axes) do if u.shape[d] == 1 then gone[d] = true end end
  return same_set(gone, axes)
end

-- Indices into u of the first element that a reduce adds up for its result at `at`, also through a view of u.
local function first_of(r, at, u)
  local j = views.first_along(r.axes, #r.inputs[1].shape, at)
  return r.inputs[1] == u and j or view.at(r.inputs[1].pieces[1], j)
end

-- Whether an operand is the mean of u over these axes, of its own row.
local function is_own_mean(operand, u, axes)
  local mean = views.shown(operand)
  local sum = mean.node.kind == "map" and match.is(mean.node.expression, "A / B") and views.shown(mean.node.inputs[1])
  if not sum or not is_sum(sum.node) or views.number(mean.node.inputs[2]) ~= tools.count(u.shape, axes) or not adds_up(sum.node, u, axes) then
    return false
  end
  local i = view.variables(u.shape)
  for d in pairs(axes) do i[d] = index.const(0) end
  return index.same(first_of(sum.node, sum.at(mean.at(i)), u), i)
end

-- The operand that is the mean of operand k over these axes, or nil.
local function own_mean(m, k, axes)
  for j, input in ipairs(m.inputs) do
    if j ~= k and is_own_mean(input, m.inputs[k], axes) then return j end
  end
end

-- The number of the operand that is the rounding error of the mean, or nil.
local function lost_of(m)
  local number
  tree.has(m.expression, function(t)
    number = number or match.operands(t, LOST)
    return number ~= nil
  end)
  return number and number.L
end

-- The operands of a norm over these axes at the mean of the norm's input. The difference from the mean is then zero, or NaN.
local function at_own_mean(g, m, k, axes)
  local mean, lost, operands = own_mean(m, k, axes), lost_of(m), {}
  if not mean then return nil end
  for j, input in ipairs(m.inputs) do operands[j] = views.dropped(g, input, axes) end
  operands[k] = operands[mean]
  if lost then operands[lost] = g:map("A - A", m.dtype, { operands[lost] }) end
  return operands
end

-- ---- the replacement

local function at_mean(g, m, k, axes)
  local operands = {}
  for j, input in ipairs(m.inputs) do
    operands[j] = j == k and tools.divided(g, g:reduce("sum", input, axes), tools.count(m.shape, axes)) or views.dropped(g, input, axes)
  end
  return operands
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
  local m = is_sum(x) and x.inputs[1]
  if not m or m.kind ~= "map" or m.cast ~= m.dtype or m.casts or not float[x.dtype] or x.dtype ~= m.dtype then return nil end
  local axes, k = inner(m, x.axes)
  if not k or tools.count(m.shape, axes) < 2 or graphs.numel(m.shape) == 0 or not degree.is_linear(m.expression, { [k] = true }) then return nil end
  local u = m.inputs[k]
  if u.kind == "view" or u.dtype ~= m.dtype or not has_sum(u) or is_counted_on(g, x) then return nil end
  local mean = g:map(m.expression, m.dtype, at_own_mean(g, m, k, axes) or at_mean(g, m, k, axes))
  local sum = g:map("A * B", m.dtype, { mean, g:fill(tools.count(m.shape, axes), {}, m.dtype) })
  local left = rest(m.shape, x.axes, axes)
  return next(left) and g:reduce("sum", sum, left) or sum
end

return M
