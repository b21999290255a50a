-- Elements between elements, at places that a tensor says; and sums of rows of a table, bag by bag.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"

local M = {}

-- ---- grid_sample: a place in each dimension, from -1 to 1, as neighbours with weights

-- The place in elements, rounded as PyTorch rounds it: a neighbour more or less decides.
local function place(g, at, n, aligned)
  local text = aligned and "exact((A + 1.0) * B)" or "exact(exact((A + 1.0) * B) - 0.5)"
  return g:map(text, at.dtype, { at, g:fill((aligned and n - 1 or n) / 2, {}, at.dtype) })
end

-- There and back again between two ends.
local function reflected(g, at, n, aligned)
  local low, high = aligned and 0 or -1, aligned and 2 * (n - 1) or 2 * n - 1
  if low == high then return g:map("A * 0.0", at.dtype, { at }) end
  local span, least = g:fill((high - low) / 2, {}, at.dtype), g:fill(low / 2, {}, at.dtype)
  local text = "(fmod(floor(abs(A - B) / C), 2.0) == 0.0 ? fmod(abs(A - B), C) + B : C - fmod(abs(A - B), C) + B)"
  return g:map(text, at.dtype, { at, least, span })
end

local padded = {
  [0] = function(_, at) return at end,
  [1] = function(g, at, n) return g:map("(A > 0.0 ? A < B ? A : B : 0.0)", at.dtype, { at, g:fill(n - 1, {}, at.dtype) }) end,
}
padded[2] = function(g, at, n, aligned) return padded[1](g, reflected(g, at, n, aligned), n) end

-- A whole place as { index, weight, whether it is inside }.
local function neighbour(g, at, n, weight)
  local size = g:fill(n, {}, at.dtype)
  local near = g:map("(A >= 0.0 && A < B ? A : 0.0)", "int64", { at, size }, at.dtype)
  return { near, weight, g:map("A >= 0.0 && A < B", "bool", { at, size }, at.dtype) }
end

-- The neighbours of a place along one dimension: 2 of linear weights, 1 that is nearest, or 4 of cubic weights.
local function neighbours(g, at, n, how)
  local dtype, pad = at.dtype, padded[how.padding]
  at = place(g, at, n, how.aligned)
  if how.mode ~= 2 then at = pad(g, at, n, how.aligned) end
  if how.mode == 1 then return { neighbour(g, g:map("rint(A)", dtype, { at }), n) } end
  local first, part = g:map("floor(A)", dtype, { at }), g:map("A - floor(A)", dtype, { at })
  if how.mode == 0 then
    local second = g:map("A + 1.0", dtype, { first })
    return { neighbour(g, first, n, g:map("1.0 - A", dtype, { part })), neighbour(g, second, n, part) }
  end
  return lists.map(tools.cubic(dtype), function(tap)
    local there = pad(g, g:map("A + B", dtype, { first, g:fill(tap[1], {}, dtype) }), n, how.aligned)
    return neighbour(g, g:map("rint(A)", dtype, { there }), n, g:map(tap[2], dtype, { part }))
  end)
end

-- All ways to choose one neighbour in each dimension: { place in the plane, weight, inside }.
local function corners(g, axes, sizes)
  local list = { {} }
  for d, axis in ipairs(axes) do
    local longer = {}
    for _, so_far in ipairs(list) do
      for _, one in ipairs(axis) do
        longer[#longer + 1] = so_far[1] and { g:map("A * B + C", "int64", { so_far[1], g:fill(sizes[d], {}, "int64"), one[1] }),
          one[2] and g:map("A * B", one[2].dtype, { so_far[2], one[2] }), g:map("A && B", "bool", { so_far[3], one[3] }) } or one
      end
    end
    list = longer
  end
  return list
end

-- The coordinates in the grid's last dimension. Its first one belongs to the last dimension of x.
local function coordinates(g, grid, dims, lots)
  local n = #grid.shape
  local shape = { table.unpack(grid.shape, 1, n - 1) }
  return lists.times(dims, function(d)
    local one = g:view(grid, shape, function(i) return index.with(i, n, index.const(dims - d)) end)
    return g:reshape(one, { shape[1], 1, lots })
  end)
end

local function sampler(dims)
  return function(g, op)
    local x, grid, out = op.by.input or op.x[1], op.by.grid or op.x[2], op.out[1]
    local how = { mode = op.args.interpolation_mode, padding = op.args.padding_mode, aligned = op.args.align_corners }
    if x.dtype ~= "float32" and x.dtype ~= "float64" then return nil, "of 16 bits its places are rounded too far" end
    local lots, sizes = graphs.numel { table.unpack(out.shape, 3) }, { table.unpack(x.shape, 3) }
    local axes = lists.map(coordinates(g, grid, dims, lots), function(at, d) return neighbours(g, at, sizes[d], how) end)
    local source = g:reshape(x, { x.shape[1], x.shape[2], graphs.numel(sizes) })
    -- where a place is NaN, PyTorch's planes are NaN, and its spaces 0
    local shape, sum = { out.shape[1], out.shape[2], lots }, nil
    for _, corner in ipairs(corners(g, axes, sizes)) do
      local value = g:pick(source, g:broadcast(corner[1], shape), 3)
      local term = g:map(corner[2] and (dims == 2 and "(C ? A * B : 0.0 * B)" or "(C ? A * B : 0.0)") or "(C ? A : 0.0)", x.dtype, { value, corner[2] or g:fill(1, {}, x.dtype), corner[3] })
      sum = sum and g:map("A + B", x.dtype, { sum, term }) or term
    end
    return { g:reshape(sum, out.shape) }
  end
end

M.grid_sampler_2d, M.grid_sampler_3d = sampler(2), sampler(3)

-- ---- affine_grid: the middles of elements, or corners on corners, turned and moved by a matrix

local function steps(g, n, dtype, aligned)
  local text = n == 1 and "0.0 * A" or aligned and ("A * %.17g - 1.0"):format(2 / (n - 1)) or ("(2.0 * A + 1.0) / %d.0 - 1.0"):format(n)
  return g:map(text, dtype, { g:iota(n) }, "float64")
end

function M.affine_grid_generator(g, op)
  local matrix, out = op.x[1], op.out[1].shape
  local dims, sum = #out - 2, nil
  local function entry(j)
    return g:view(matrix, out, function(i) return { i[1], i[#out], index.const(j) } end)
  end
  for d = 1, dims do
    local at = g:view(steps(g, out[1 + d], matrix.dtype, op.args.align_corners), out, function(i) return { i[1 + d] } end)
    sum = tools.weighted(g, sum, at, entry(dims - d))
  end
  return { g:map("A + B", matrix.dtype, { sum, entry(dims) }) }
end

-- ---- embedding_bag: each bag goes through all rows, and takes its own

-- Whether number j of the list, the second of two dimensions, is in a bag.
local function members(g, op, bags, n)
  local offsets, at, shape = op.by.offsets, op.by.indices, { bags, n }
  local low = g:view(offsets, shape, function(i) return { i[1] } end)
  local last = offsets.shape[1] - 1
  local bound = g:join(shape, { { offsets, function(i) return { i[1] + 1 } end, function(i) return { index.back(i[1], last) } end },
    { g:fill(n, {}, "int64"), function() return {} end } })
  local own = g:numbers(shape, 2)
  local inside = g:map("A >= B && A < C", "bool", { own, low, bound }, "int64")
  local skip = op.args.padding_idx
  if not skip or skip < 0 then return inside end
  local listed = g:view(at, shape, function(i) return { i[2] } end)
  return g:map("A && B", "bool", { inside, g:map("A != B", "bool", { listed, g:fill(skip, {}, "int64") }, "int64") })
end

local function wide(g, x, shape, ...)
  local dims = { ... }
  return g:view(x, shape, function(i) return lists.map(dims, function(d) return i[d] end) end)
end

local function rows_of(g, table_, at, width)
  local n = at.shape[1]
  return g:pick(table_, g:broadcast(g:reshape(at, { n, 1 }), { n, width }), 1)
end

-- The first row of each bag: where that is NaN, so is the largest; any other NaN is less than nothing.
local function first_of(g, inside, table_, at, width)
  local n = at.shape[1]
  local number = g:map("(A ? B : C)", "int64", { inside, g:numbers(inside.shape, 2), g:fill(math.max(n - 1, 0), {}, "int64") }, nil, { "bool" })
  local first = g:reduce("min", number, { [2] = true })
  return rows_of(g, table_, g:pick(at, first, 1), width)
end

function M._embedding_bag_forward_only(g, op)
  local table_, at, out, mode = op.by.weight, op.by.indices, op.out[1], op.args.mode or 0
  local n, bags, width = at.shape[1], out.shape[1], out.shape[2]
  local inside = members(g, op, bags, n)
  local shape, dtype = { bags, width, n }, table_.dtype
  local rows = rows_of(g, table_, at, width)
  local given, least = op.by.per_sample_weights, g:fill(mode == 2 and "-inf" or 0, {}, dtype)
  local terms = { wide(g, inside, shape, 1, 3), wide(g, rows, shape, 3, 2), least, given and wide(g, given, shape, 3) or nil }
  local term = g:map(given and "(A ? B * D : C)" or "(A ? B : C)", dtype, terms, nil, { "bool" })
  if mode == 2 then term = g:map("(A != A ? B : A)", dtype, { term, least }) end
  local joined = g:reduce(mode == 2 and "max" or "sum", term, { [3] = true })
  if mode == 0 then return { joined } end
  if mode == 2 then joined = g:map("(B != B ? B : A)", dtype, { joined, first_of(g, inside, table_, at, width) }) end
  local count = g:reduce("sum", g:map("A ? 1 : 0", dtype, { inside }, "bool"), { [2] = true }, true)
  return { g:map(mode == 1 and "(B == 0 ? A : A / B)" or "(B == 0 ? 0 : A)", dtype, { joined, count }) }
end
M._embedding_bag = M._embedding_bag_forward_only

return M
