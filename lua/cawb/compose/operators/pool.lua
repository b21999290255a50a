-- Pooling: reduces over the axes of a window, which a view lays out behind each place.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"

local M = {}

local each = tools.each

-- A window's sizes, steps, paddings and dilations, and the dimensions ahead of space.
local function window(op, x, dims)
  local size = each(op.args.kernel_size, dims)
  return { dims = dims, ahead = #x.shape - dims, size = size, stride = each(op.args.stride, dims, size),
           padding = each(op.args.padding, dims, { 0 }), dilation = each(op.args.dilation, dims, { 1 }) }
end

-- x with the window's axes behind its own: outside x it is `fill`.
local function windows(g, x, w, out, fill)
  local view = g:padded(x, lists.joined(out, w.size), function(i)
    local j = { table.unpack(i, 1, w.ahead) }
    for d = 1, w.dims do j[w.ahead + d] = w.stride[d] * i[w.ahead + d] + w.dilation[d] * i[#out + d] - w.padding[d] end
    return j
  end, fill)
  view.window = w                      -- for rewrites
  return view
end

-- The axes of the windows, as a set.
local function behind(out, dims) return tools.span(#out + 1, #out + dims) end

-- How many windows there are along both dimensions of a plane.
local function reach_of(w, shape)
  return lists.times(2, function(d) return (shape[w.ahead + d] + 2 * w.padding[d] - w.dilation[d] * (w.size[d] - 1) - 1) // w.stride[d] + 1 end)
end

-- A column for each window.
function M.im2col(g, op)
  local x, out = op.x[1], op.out[1].shape
  local w = window(op, x, 2)
  local reach = reach_of(w, x.shape)
  local n = w.ahead
  local view = windows(g, x, w, lists.joined({ table.unpack(x.shape, 1, n) }, reach), 0)
  local order = lists.joined(lists.times(n, function(d) return d end), { n + 3, n + 4, n + 1, n + 2 })
  return { g:reshape(g:permute(view, order), out) }
end

-- Columns added up where their windows were: each place looks for the windows that it is in.
function M.col2im(g, op)
  local x, out = op.x[1], op.out[1].shape
  local w = window(op, x, 2)
  w.ahead = #out - 2
  local parts, places = lists.joined({ table.unpack(out, 1, w.ahead) }, w.size, reach_of(w, out)), lists.joined(out, w.size)
  local columns = g:reshape(x, parts)
  local function from(i, d) return i[w.ahead + d] + w.padding[d] - w.dilation[d] * i[#out + d] end
  local view = g:view(columns, places, function(i)
    local j = { table.unpack(i, 1, w.ahead) }
    for d = 1, 2 do j[w.ahead + d], j[w.ahead + 2 + d] = i[#out + d], from(i, d) // w.stride[d] end
    return j
  end, function(i)
    local guards = {}
    for d = 1, 2 do
      guards[#guards + 1] = -(from(i, d) % w.stride[d])
      lists.append(guards, index.inside(from(i, d) // w.stride[d], parts[w.ahead + 2 + d]))
    end
    return guards
  end, 0)
  return { g:reduce("sum", view, behind(out, 2)) }
end

-- Where in x the largest of each window lies, counted through space: the first of equals, or the last NaN. `shown(node, outside)`: the
-- windows of a node.
local function found(g, x, dims, shown, view, largest)
  local space = { table.unpack(x.shape, #x.shape - dims + 1) }
  local numbers = g:broadcast(g:reshape(g:iota(graphs.numel(space)), space), x.shape)
  local best = g:view(largest, view.shape, function(i) return { table.unpack(i, 1, #largest.shape) } end)
  local hit = g:map("(A == B ? C : A != A && B != B ? -1 - C : D)", "int64", { view, best, shown(numbers, math.maxinteger), g:fill(math.maxinteger, {}, "int64") }, nil, { x.dtype, x.dtype })
  return g:map("(A < 0 ? -1 - A : A)", "int64", { g:reduce("min", hit, behind(largest.shape, dims)) })
end

-- The same by the place in the window, where no padding may be the first of equals; else nil.
local function chosen(g, x, w, out, view)
  local n, shape, before = 1, { table.unpack(out) }, {}
  for d = w.dims, 1, -1 do
    if w.padding[d] > 0 or (out[w.ahead + d] - 1) * w.stride[d] + w.dilation[d] * (w.size[d] - 1) >= x.shape[w.ahead + d] then return nil end
    before[d], n = n, n * w.size[d]
  end
  shape[#shape + 1] = n
  local window = g:reshape(view, shape)
  local missing = g:map("(A != A ? B : -1)", "int64", { window, g:vector(g:iota(n), #shape, #shape) }, nil, { x.dtype, "int64" })
  local k = g:map("(B < 0 ? A : B)", "int64", { g:reduce("argmax", window, { [#shape] = true }), g:reduce("max", missing, { [#shape] = true }) })
  local text, given, across = "0", { k }, 1
  for d = w.dims, 1, -1 do
    given[#given + 1] = g:numbers(out, w.ahead + d)
    text = ("%s + (%s * %d + A / %d %% %d * %d) * %d"):format(text, string.char(64 + #given), w.stride[d], before[d], w.size[d], w.dilation[d], across)
    across = across * x.shape[w.ahead + d]
  end
  return g:map(text, "int64", given)
end

local function max_pool(dims)
  return function(g, op)
    local x, out = op.x[1], op.out[1].shape
    local w = window(op, x, dims)
    local function shown(node, outside) return windows(g, node, w, out, outside) end
    local view = shown(x, x.dtype:find "int" and math.mininteger or "-inf")
    local largest = g:reduce("max", view, behind(out, dims))
    return { largest, #op.out > 1 and (chosen(g, x, w, out, view) or found(g, x, dims, shown, view, largest)) or nil }
  end
end

M.max_pool2d_with_indices, M.max_pool3d_with_indices, M.max_pool2d = max_pool(2), max_pool(3), max_pool(2)

-- How many elements each window counts. Windows may reach beyond the padding where ceil_mode is set.
local function counted(g, x, w, out, include)
  local one = g:fill(1, lists.map(x.shape, function(n, d) return d <= w.ahead and 1 or n + (include and 2 * w.padding[d - w.ahead] or 0) end), x.dtype)
  local wide = setmetatable({ padding = include and each(0, w.dims) or w.padding }, { __index = w })
  local places = lists.map(out, function(n, d) return d <= w.ahead and 1 or n end)
  return g:reduce("sum", windows(g, one, wide, places, 0), behind(out, w.dims))
end

local function is_padded(x, w, out, include)
  return lists.any(w.size, function(size, d)
    local pad, last = w.padding[d], (out[w.ahead + d] - 1) * w.stride[d] + size
    return not include and pad > 0 or last > x.shape[w.ahead + d] + 2 * pad
  end)
end

local function avg_pool(dims)
  return function(g, op)
    local x, out = op.x[1], op.out[1].shape
    local w = window(op, x, dims)
    local sum = g:reduce("sum", windows(g, x, w, out, 0), behind(out, dims))
    local n, include = op.args.divisor_override, op.args.count_include_pad ~= false
    if not n and is_padded(x, w, out, include) then return { g:map("A / B", x.dtype, { sum, counted(g, x, w, out, include) }) } end
    return { tools.divided(g, sum, n or graphs.numel(w.size)) }
  end
end

M.avg_pool1d, M.avg_pool2d, M.avg_pool3d = avg_pool(1), avg_pool(2), avg_pool(3)

-- Adaptive windows begin at i * from // to and end before ceil((i + 1) * from / to).
local function adaptive(name, dims)
  return function(g, op)
    local x, out = op.x[1], op.out[1].shape
    local ahead, shape = #x.shape - dims, { table.unpack(out) }
    for d = #out - dims + 1, #out do
      local from, to = x.shape[d], out[d]
      shape[dims + d] = from % to == 0 and from // to or math.min(from, from // to + 2)
    end
    local function at(i)
      return lists.times(#out, function(d) return d <= ahead and i[d] or x.shape[d] * i[d] // out[d] + i[dims + d] end)
    end
    local function guard(i)
      local list, j = {}, at(i)
      for d = ahead + 1, #out do
        local from, to = x.shape[d], out[d]
        if from % to ~= 0 then list[#list + 1] = (from * i[d] + (from + to - 1)) // to - j[d] - 1 end
      end
      return list
    end
    local function shown(node, outside) return g:view(node, shape, at, guard, outside) end
    local view = shown(x, name == "max" and "-inf" or 0)
    local joined = g:reduce(name, view, behind(out, dims))
    if name == "max" then return { joined, found(g, x, dims, shown, view, joined) } end
    local one = g:view(g:fill(1, {}, x.dtype), shape, function() return {} end, guard, 0)
    return { g:map("A / B", x.dtype, { joined, g:reduce("sum", one, behind(out, dims)) }) }
  end
end

M._adaptive_avg_pool2d, M._adaptive_avg_pool3d = adaptive("sum", 2), adaptive("sum", 3)
M.adaptive_max_pool2d, M.adaptive_max_pool3d = adaptive("max", 2), adaptive("max", 3)

return M
