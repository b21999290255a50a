-- Changes of size between whole neighbours: linear and cubic weights, one dimension after the other. Places follow
-- from an output's number o in whole numbers: o lies at (p o + s) / q of the input. In float64, where PyTorch's own places
-- are the reference, they are rounded as PyTorch rounds them.

local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"

local M = {}

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
  if aligned then
    local p, q = to > 1 and from - 1 or 0, math.max(to - 1, 1)
    return { p = p, s = 0, q = q, step = p / q, aligned = true }
  end
  local step = factor and 1 / factor or from / to
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
    local weight = spread(g:map(tap[2], x.dtype, { part }))
    sum = sum and g:map("A + B * C", x.dtype, { sum, value, weight }) or g:map("A * B", x.dtype, { value, weight })
  end
  return sum
end

local linear, same = { { 0, "1.0 - A" }, { 1, "A" } }, { { 0, "1.0 - A" }, { 0, "A" } }

-- Factors by dimension where the caller named some, under either of the names that an overload has.
local function factors(op, dims)
  local list = op.args.scale_factors
  if type(list) == "number" then list = { list } end
  local names = dims == 1 and { "scales" } or dims == 2 and { "scales_h", "scales_w" } or { "scales_d", "scales_h", "scales_w" }
  return lists.times(dims, function(d) return list and list[d] or op.args[names[d]] or false end)
end

-- With linear taps, or cubic ones where there are none.
local function resized(dims, taps)
  return function(g, op)
    local x, out = op.x[1], op.out[1].shape
    local given, ahead = factors(op, dims), #out - dims
    local wide = (x.dtype == "float16" or x.dtype == "bfloat16") and "float32" or x.dtype
    local y = x.dtype == wide and x or g:map("A", wide, { x })
    for d = 1, dims do
      local from, to = x.shape[ahead + d], out[ahead + d]
      local where = place(from, to, op.args.align_corners, given[d])
      if not where then return nil, ("its factor %s is no ratio of small whole numbers; give sizes, or recompute_scale_factor=True"):format(given[d]) end
      local at, part = parts(g, to, where, taps ~= nil, wide)
      local weights = taps or tools.cubic(wide)
      y = along(g, y, ahead + d, to, at, part, taps and from == to and same or weights)
    end
    return { y.dtype == x.dtype and y or g:map("A", x.dtype, { y }, wide) }
  end
end

M.upsample_linear1d, M.upsample_bilinear2d, M.upsample_trilinear3d = resized(1, linear), resized(2, linear), resized(3, linear)
M.upsample_bicubic2d = resized(2)

return M
