-- Operators that compute nothing: they make, copy, join, shift and pad elements.

local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"
local types = require "cawb.torch.types"

local M = {}

local function copy(g, op)
  local x, dtype = op.x[1], op.out[1].dtype
  if x.dtype == dtype then return { g:view(x, x.shape, function(i) return i end) } end
  local half = types.is_narrow(dtype) and dtype .. "(A)"
  return { g:map(dtype == "bool" and "A != 0" or half or "A", dtype, { x }, (dtype == "bool" or dtype:find "int") and x.dtype or dtype) }
end

M.clone, M._to_copy, M.lift_fresh, M.contiguous, M.alias = copy, copy, copy, copy, copy
M.lift_fresh_copy, M.expand_copy, M.alias_copy, M.detach_copy = copy, copy, copy, copy

-- Into the first operand's place; the source is broadcast to it.
function M.copy(g, op)
  local y = op.by.src or op.x[2]
  local dtype = op.out[1].dtype
  if y.dtype ~= dtype then y = g:map(dtype:find "^float8" and dtype .. "(A)" or "A", dtype, { y }, dtype) end
  return { g:broadcast(y, op.out[1].shape) }
end

local function filled(value)
  return function(g, op)
    local args, v = op.args, value
    for _, name in ipairs { "fill_value", "value", "s" } do
      if v == nil then v = args[name] end
    end
    if v == nil then return { g:broadcast(op.x[#op.x], op.out[1].shape) } end
    return { g:fill(v, op.out[1].shape, op.out[1].dtype) }
  end
end

M.zeros, M.zeros_like, M.new_zeros, M.zero = filled(0), filled(0), filled(0), filled(0)
M.ones, M.ones_like, M.new_ones = filled(1), filled(1), filled(1)
M.full, M.full_like, M.new_full, M.fill, M.scalar_tensor = filled(), filled(), filled(), filled(), filled()

function M.arange(g, op)
  local dtype, first, step = op.out[1].dtype, op.args.start or 0, op.args.step or 1
  return { g:map("B + C * A", dtype, { g:iota(op.out[1].shape[1]), g:fill(first, {}, dtype), g:fill(step, {}, dtype) },
    dtype:find "float" and dtype or "int64") }
end

function M.linspace(g, op)
  local first, last = op.args.start, op.args["end"]
  if not (first and last) then return nil, "its bounds are tensors" end
  local dtype, n = op.out[1].dtype, op.out[1].shape[1]
  local function number(v) return g:fill(v, {}, dtype) end
  if n == 1 then return { g:fill(first, { 1 }, dtype) } end
  local step = n > 1 and (last - first) / (n - 1) or 0
  return { g:map("(A < D ? B + C * A : E - C * (F - A))", dtype,
    { g:iota(n), number(first), number(step), number(n // 2), number(last), number(n - 1) }) }
end

function M.eye(g, op)
  local out = op.out[1]
  return { g:view(g:fill(1, {}, out.dtype), out.shape, function() return {} end, function(i) return { i[1] - i[2], i[2] - i[1] } end, 0) }
end

function M.cat(g, op)
  local out = op.out[1]
  local parts = lists.map(op.x, function(x) return tools.taken(g, x, out.dtype) end)
  return { g:concatenate(parts, op.args.dim % #out.shape + 1, out.shape) }
end

function M.stack(g, op)
  local out = op.out[1]
  local axis = tools.axis(op.args.dim, 0, #out.shape)
  local parts = lists.map(op.x, function(x) return g:reshape(tools.taken(g, x, out.dtype), index.with(out.shape, axis, 1)) end)
  return { g:concatenate(parts, axis, out.shape) }
end

function M.flip(g, op)
  local x = op.x[1]
  local axes = tools.axes_of(op.args.dims, #x.shape)
  if #op.args.dims == 0 then axes = {} end
  return { g:view(x, x.shape, function(i)
    return lists.map(x.shape, function(n, d) return axes[d] and index.back(i[d], n) or i[d] end)
  end) }
end

function M.roll(g, op)
  local x, shifts, dims = op.x[1], op.args.shifts, op.args.dims
  if type(shifts) == "number" then shifts = { shifts } end
  if type(dims) == "number" then dims = { dims } end
  if not dims or #dims == 0 then
    local n = tools.count(x.shape, tools.axes_of(nil, #x.shape))
    local flat = M.roll(g, { x = { g:reshape(x, { n }) }, args = { shifts = shifts, dims = { 0 } } })[1]
    return { g:reshape(flat, x.shape) }
  end
  return { g:view(x, x.shape, function(i)
    local j = { table.unpack(i) }
    for k, d in ipairs(dims) do
      local axis = d % #x.shape + 1
      j[axis] = (j[axis] - shifts[k] % x.shape[axis]) % x.shape[axis]
    end
    return j
  end) }
end

local function triangle(sign)
  return function(g, op)
    local x, k = op.x[1], op.args.diagonal or 0
    local r = #x.shape
    return { g:view(x, x.shape, function(i) return i end, function(i) return { sign * (i[r - 1] - i[r] + k) } end, 0) }
  end
end

M.tril, M.triu = triangle(1), triangle(-1)

function M.constant_pad_nd(g, op)
  local x, pad, out = op.x[1], op.args.pad, op.out[1].shape
  local function ahead(d) return pad[2 * (#x.shape - d) + 1] or 0 end
  return { g:padded(x, out, function(i) return lists.map(i, function(e, d) return e - ahead(d) end) end, op.args.value or 0) }
end

-- x with `before` and `after` more elements along axis d, which has n elements. An element at place e ahead of the first one comes
-- from place `low(e)` of x; an element behind the last one from `high(e, n)`.
local function padded(g, x, d, before, after, low, high)
  if before == 0 and after == 0 then return x end
  local n = x.shape[d]
  local function place(i) return i[d] - before end
  local function from(e) return function(i) return index.with(i, d, e(place(i), n)) end end
  return g:join(index.with(x.shape, d, n + before + after), {
    { x, from(low), function(i) return { -place(i) - 1 } end },
    { x, from(high), function(i) return { place(i) - n } end },
    { x, from(function(e) return e end) } })
end

local function pad(low, high)
  return function(g, op)
    local x, sizes = op.x[1], op.args.padding
    for k = 1, #sizes, 2 do
      x = padded(g, x, #x.shape - (k - 1) // 2, sizes[k], sizes[k + 1], low, high)
    end
    return { x }
  end
end

local reflection = pad(function(e) return -e end, function(e, n) return index.back(e, 2 * n - 1) end)
local replication = pad(function() return index.const(0) end, function(_, n) return index.const(n - 1) end)

M.reflection_pad1d, M.reflection_pad2d, M.reflection_pad3d = reflection, reflection, reflection
M.replication_pad1d, M.replication_pad2d, M.replication_pad3d = replication, replication, replication

M["repeat"] = function(g, op)
  local x, out = op.x[1], op.out[1].shape
  return { g:view(x, out, function(i) return lists.map(x.shape, function(n, d) return i[#out - #x.shape + d] % n end) end) }
end

-- Each of the last dimensions scaled up by whole neighbours: by `exact` the one whose middle is nearest.
local function nearest(dims, exact)
  return function(g, op)
    local x, out = op.x[1], op.out[1].shape
    return { g:view(x, out, function(i)
      return lists.map(i, function(e, d)
        if d <= #out - dims then return e end
        return exact and (2 * x.shape[d] * e + x.shape[d]) // (2 * out[d]) or x.shape[d] * e // out[d]
      end)
    end) }
  end
end

M.upsample_nearest1d, M.upsample_nearest2d, M.upsample_nearest3d = nearest(1), nearest(2), nearest(3)

M._upsample_nearest_exact1d, M._upsample_nearest_exact2d, M._upsample_nearest_exact3d = nearest(1, true), nearest(2, true), nearest(3, true)

function M.pixel_shuffle(g, op)
  local x, out, r = op.x[1], op.out[1].shape, op.args.upscale_factor
  local n = #out
  return { g:view(x, out, function(i)
    return index.with(i, n - 2, r * r * i[n - 2] + (r * (i[n - 1] % r) + i[n] % r), n - 1, i[n - 1] // r, n, i[n] // r)
  end) }
end

function M.pixel_unshuffle(g, op)
  local x, out, r = op.x[1], op.out[1].shape, op.args.downscale_factor
  local n = #out
  return { g:view(x, out, function(i)
    local inner = i[n - 2] % (r * r)
    return index.with(i, n - 2, i[n - 2] // (r * r), n - 1, inner // r + r * i[n - 1], n, inner % r + r * i[n])
  end) }
end

function M.channel_shuffle(g, op)
  local x, groups = op.x[1], op.args.groups
  return { g:view(x, x.shape, function(i) return index.with(i, 2, x.shape[2] // groups * (i[2] % groups) + i[2] // groups) end) }
end
M.native_channel_shuffle = M.channel_shuffle

-- The first half of an axis times the sigmoid of the other.
function M.glu(g, op)
  local x = op.x[1]
  local axis = op.args.dim % #x.shape + 1
  local half = op.out[1].shape[axis]
  return { g:map("A * (1.0 / (1.0 + exp(-B)))", x.dtype, { g:slice(x, axis, 0, half), g:slice(x, axis, half, half) }) }
end

return M
