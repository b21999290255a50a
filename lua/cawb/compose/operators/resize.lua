-- Changes of size between whole neighbours: linear and cubic weights, one dimension after the other. Places follow
-- from an output's number o in whole numbers: o lies at (p o + s) / q of the input.

local M = {}

-- p / q = value with a q of at most 64; nothing where there is none.
local function ratio(value)
  for q = 1, 64 do
    local p = math.floor(value * q + 0.5)
    if math.abs(p / q - value) < 1e-9 * value then return p, q end
  end
end

-- p, s and q: corners on corners, or middles on middles; `factor` where the caller named one.
local function place(from, to, aligned, factor)
  if aligned then return { p = to > 1 and from - 1 or 0, s = 0, q = math.max(to - 1, 1) } end
  local p, q = from, to
  if factor then p, q = ratio(1 / factor) end
  return p and { p = 2 * p, s = p - q, q = 2 * q } or nil
end

-- Of each of `to` outputs the number of the neighbour ahead of its place, from -1 on, and the share of the way from there. With
-- `within` no place is ahead of the first element: as in PyTorch the second counts there, 0 times, and its NaN is one.
local function parts(g, to, at, within, dtype)
  local function of(text)
    local function n(v) return g:fill(v, {}, "int64") end
    return g:map(text, "int64", { g:iota(to), n(at.p), n(at.s + at.q), n(at.q) })
  end
  local text = within and "(A * B + C < D ? D : A * B + C)" or "(A * B + C)"
  return of(text .. " / D - 1"), g:map("A / B", dtype, { of(text .. " % D"), g:fill(at.q, {}, dtype) })
end

-- One dimension of x at `to` places, of which each is a sum of neighbours: { distance, weight as an expression of the part }.
local function along(g, x, d, to, at, part, taps)
  local shape = { table.unpack(x.shape) }
  shape[d] = to
  local function spread(node) return g:view(node, shape, function(i) return { i[d] } end) end
  local sum
  for _, tap in ipairs(taps) do
    local near = g:map("(A + B < 0 ? 0 : A + B > C ? C : A + B)", "int64", { at, g:fill(tap[1], {}, "int64"), g:fill(x.shape[d] - 1, {}, "int64") })
    local value = g:node { kind = "pick", inputs = { x, spread(near) }, axis = d, shape = shape, dtype = x.dtype }
    local weight = spread(g:map(tap[2], x.dtype, { part }))
    sum = sum and g:map("A + B * C", x.dtype, { sum, value, weight }) or g:map("A * B", x.dtype, { value, weight })
  end
  return sum
end

local linear, same = { { 0, "1.0f - A" }, { 1, "A" } }, { { 0, "1.0f - A" }, { 0, "A" } }

local function near(t) return ("((1.25f * %s - 2.25f) * %s * %s + 1.0f)"):format(t, t, t) end
local function far(t) return ("(((-0.75f * %s + 3.75f) * %s - 6.0f) * %s + 3.0f)"):format(t, t, t) end
local cubic = { { -1, far "(A + 1.0f)" }, { 0, near "A" }, { 1, near "(1.0f - A)" }, { 2, far "(2.0f - A)" } }

-- Factors by dimension where the caller named some, under either of the names that an overload has.
local function factors(op, dims)
  local list = op.args.scale_factors
  if type(list) == "number" then list = { list } end
  local names = dims == 1 and { "scales" } or dims == 2 and { "scales_h", "scales_w" } or { "scales_d", "scales_h", "scales_w" }
  local out = {}
  for d = 1, dims do out[d] = list and list[d] or op.args[names[d]] or false end
  return out
end

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
      local at, part = parts(g, to, where, taps == linear, wide)
      y = along(g, y, ahead + d, to, at, part, taps == linear and from == to and same or taps)
    end
    return { y.dtype == x.dtype and y or g:map("A", x.dtype, { y }, wide) }
  end
end

M.upsample_linear1d, M.upsample_bilinear2d, M.upsample_trilinear3d = resized(1, linear), resized(2, linear), resized(3, linear)
M.upsample_bicubic2d = resized(2, cubic)

return M
