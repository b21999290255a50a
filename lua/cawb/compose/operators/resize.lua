-- Changes of size, one dimension after the other: between whole neighbours by linear and cubic weights, or with a filter as wide as the
-- step between outputs.

local constant = require "cawb.compose.operators.constant"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"

local M = {}

-- Elements between outputs: corners on corners, by the caller's factor, or by sizes.
local function step_of(from, to, aligned, factor)
  if aligned then return to > 1 and (from - 1) / (to - 1) or 0.0 end
  return factor and 1 / factor or from / to
end

-- Factors by dimension where the caller named some, under either of the names that an overload has.
local function factors(op, dims)
  local list = op.args.scale_factors
  if type(list) == "number" then list = { list } end
  local names = dims == 1 and { "scales" } or dims == 2 and { "scales_h", "scales_w" } or { "scales_d", "scales_h", "scales_w" }
  return lists.times(dims, function(d) return list and list[d] or op.args[names[d]] or false end)
end

-- ---- between neighbours. Places follow from an output's number o in whole numbers: o lies at (p o + s) / q of the input. In float64, where
-- PyTorch's own places are the reference, they are rounded as PyTorch rounds them

-- p / q = value with a q of at most 64; nothing where there is none.
local function ratio(value)
  for q = 1, 64 do
    local p = math.floor(value * q + 0.5)
    if math.abs(p / q - value) < 1e-9 * value then return p, q end
  end
end

-- p, s and q: corners on corners, or middles on middles; `factor` where the caller named one. And the step between outputs
-- as one number.
local function place(from, to, aligned, factor)
  local step = step_of(from, to, aligned, factor)
  if aligned then return { p = to > 1 and from - 1 or 0, s = 0, q = math.max(to - 1, 1), step = step, aligned = true } end
  local p, q = from, to
  if factor then p, q = ratio(1 / factor) end
  return p and { p = 2 * p, s = p - q, q = 2 * q, step = step } or nil
end

-- The same two as `parts` returns, of places in float64. PyTorch takes the neighbour ahead of a place in float32.
local function rounded(g, to, at, within)
  local text = at.aligned and "exact(A * B)" or "exact(exact((A + 0.5) * B) - 0.5)"
  local real = g:map(text, "float64", { g:iota(to), g:fill(at.step, {}, "float64") })
  if within then real = g:map("(A < 0.0 ? 0.0 : A)", "float64", { real }) end
  local first = g:map("floor(A)", "int64", { real }, "float32")
  local part = g:map("(A - B < 0.0 ? 0.0 : A - B > 1.0 ? 1.0 : A - B)", "float64", { real, first })
  return first, part
end

-- Of each of `to` outputs the number of the neighbour ahead of its place, from -1 on, and the share of the way from there. With
-- `within` no place is ahead of the first element: as in PyTorch the second counts there, 0 times, and its NaN is one.
local function parts(g, to, at, within, dtype)
  if dtype == "float64" then return rounded(g, to, at, within) end
  local function of(text)
    local function n(v) return g:fill(v, {}, "int64") end
    return g:map(text, "int64", { g:iota(to), n(at.p), n(at.s + at.q), n(at.q) })
  end
  local text = within and "(A * B + C < D ? D : A * B + C)" or "(A * B + C)"
  return of(text .. " / D - 1"), g:map("A / B", dtype, { of(text .. " % D"), g:fill(at.q, {}, dtype) })
end

-- One dimension of x resized to `to` places. Each is a weighted sum of neighbours, `taps`: { distance, weight as an expression of
-- the part }.
local function along(g, x, d, to, at, part, taps)
  local shape = index.with(x.shape, d, to)
  local function spread(node) return g:view(node, shape, function(i) return { i[d] } end) end
  local sum
  for _, tap in ipairs(taps) do
    local near = g:map("(A + B < 0 ? 0 : A + B > C ? C : A + B)", "int64", { at, g:fill(tap[1], {}, "int64"), g:fill(x.shape[d] - 1, {}, "int64") })
    local value = g:pick(x, spread(near), d)
    sum = tools.weighted(g, sum, value, spread(g:map(tap[2], x.dtype, { part })))
  end
  return sum
end

local linear, same = { { 0, "1.0 - A" }, { 1, "A" } }, { { 0, "1.0 - A" }, { 0, "A" } }

-- With linear taps, or cubic ones where there are none.
local function resized(dims, taps)
  return function(g, op)
    local x, out = op.x[1], op.out[1].shape
    local given, ahead, y = factors(op, dims), #out - dims, x
    for d = 1, dims do
      local from, to = x.shape[ahead + d], out[ahead + d]
      local where = place(from, to, op.args.align_corners, given[d])
      if not where then return nil, ("its factor %s is no ratio of small whole numbers; give sizes, or recompute_scale_factor=True"):format(given[d]) end
      local at, part = parts(g, to, where, taps ~= nil, x.dtype)
      y = along(g, y, ahead + d, to, at, part, taps and from == to and same or taps or tools.cubic(x.dtype))
    end
    return { y }
  end
end

M.upsample_linear1d, M.upsample_bilinear2d, M.upsample_trilinear3d = resized(1, linear), resized(2, linear), resized(3, linear)
M.upsample_bicubic2d = resized(2)

-- ---- with a filter: each output is a weighted sum of its window. Windows and weights follow from sizes, so they are constants

local function triangle(x) return math.max(0.0, 1.0 - math.abs(x)) end

local A = -0.5             -- of the cubic: other than without a filter

local function cubic(x)
  x = math.abs(x)
  if x < 1 then return ((A + 2) * x - (A + 3)) * x * x + 1 end
  return x < 2 and (((x - 5) * x + 8) * x - 4) * A or 0.0
end

-- Of output o the first element of its window and the weights: as PyTorch has them, whose sum is 1.
local function window(o, from, step, reach, filter)
  local scale = math.max(1.0, step)
  local middle, support = step * (o + 0.5), reach * scale
  local first = math.max(math.tointeger((middle - support + 0.5) // 1), 0)
  local last, weights, sum = math.min(math.tointeger((middle + support + 0.5) // 1), from), {}, 0.0
  for k = first, last - 1 do
    weights[#weights + 1] = filter((k - middle + 0.5) / scale)
    sum = sum + weights[#weights]
  end
  for k, w in ipairs(weights) do weights[k] = sum ~= 0 and w / sum or w end
  return first, weights
end

-- One dimension of x in another size. Windows at the borders are shorter: they take no element more than they have.
local function filtered_along(g, x, d, to, step, reach, filter)
  local firsts, counts, rows, widest = {}, {}, {}, 0
  for o = 0, to - 1 do
    firsts[o + 1], rows[o + 1] = window(o, x.shape[d], step, reach, filter)
    counts[o + 1] = #rows[o + 1]
    widest = math.max(widest, counts[o + 1])
  end
  local weights = {}
  for _, row in ipairs(rows) do
    for k = 1, widest do weights[#weights + 1] = row[k] or 0.0 end
  end
  local shape = index.with(x.shape, d, to)
  shape[#shape + 1] = widest
  local last = #shape
  local function table_of(values, dtype) return constant.of(g, { values = values, shape = { to }, dtype = dtype }) end
  local function by_output(node) return g:view(node, shape, function(i) return { i[d] } end) end
  local k = g:numbers(shape, last)
  local inside = g:map("A < B", "bool", { k, by_output(table_of(counts, "int64")) }, "int64")
  local at = g:map("(A ? B + C : B)", "int64", { inside, by_output(table_of(firsts, "int64")), k }, nil, { "bool" })
  local wide = g:view(x, index.with(shape, d, x.shape[d]), function(i) return { table.unpack(i, 1, last - 1) } end)
  local weight = g:view(constant.of(g, { values = weights, shape = { to, widest }, dtype = x.dtype }), shape, function(i) return { i[d], i[last] } end)
  return g:reduce("sum", g:map("(A ? B * C : 0.0)", x.dtype, { inside, g:pick(wide, at, d), weight }, nil, { "bool" }), { [last] = true })
end

local function filtered(reach, filter)
  return function(g, op)
    local x, out = op.x[1], op.out[1].shape
    if graphs.same(x.shape, out) then return { g:view(x, out, function(i) return i end) } end
    local given, y = factors(op, 2), x
    for d = #out, #out - 1, -1 do
      y = filtered_along(g, y, d, out[d], step_of(x.shape[d], out[d], op.args.align_corners, given[d - #out + 2]), reach, filter)
    end
    return { y }
  end
end

M._upsample_bilinear2d_aa, M._upsample_bicubic2d_aa = filtered(1, triangle), filtered(2, cubic)

return M
