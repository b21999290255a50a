-- split: a long reduce with few results becomes two: one over parts, and one over the results of the parts. So all of a device has
-- work, and no sum is long. Squared distances are taken from the mean of each part. That needs one pass; distances from the mean
-- of all need two (Chan, Golub and LeVeque 1983).

local aligned = require "cawb.compose.split.aligned"
local expression = require "cawb.compose.emit.expression"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local lanes = require "cawb.compose.emit.lanes"
local rates = require "cawb.compose.cost.rates"
local rows = require "cawb.compose.emit.rows.rows"
local text = require "cawb.compose.ir.tree.text"
local tools = require "cawb.compose.operators.tools"
local types = require "cawb.torch.types"

local M = {}

local BLOCKS = 4        -- of each multiprocessor that a kernel should have
local LEAST = 4096      -- elements of a part, if options.part does not say
local WARP = 32         -- rows of a block where neighbours in memory are in different rows
local SLOW = 4          -- such blocks read as fast as memory is where more than one of so many multiprocessors has one
local BEGUN = 1 << 16   -- parts of sums (split/partial.lua) that one block joins
local ROW, COLUMN = 16384, 1024      -- of a part that is gone through twice: along memory, and across it

local can = { sum = true, max = true, min = true, prod = true, any = true, all = true }

local starts = { sum = 0, prod = 1, any = false, all = true, max = "-inf", min = "inf" }

-- The axes of a reduce's input as two axes, parts and places in a part. Returns the shape, its indices, the place among the axes'
-- elements, and the guard of places past the last element.
local function layout(x, parts, size, n)
  local before = { inputs = x.inputs, axes = x.axes }
  local sizes, shape = expression.axes(x), { table.unpack(x.shape) }
  local first = #shape + 1
  shape[first], shape[first + 1] = parts, size
  local function column(i) return i[first + 1] + size * i[first] end
  local function at(i) return expression.merged(before, { table.unpack(i, 1, first - 1) }, index.unravel(column(i), sizes)) end
  local guard = parts * size > n and function(i) return { index.back(column(i), n) } end or nil
  return { shape = shape, at = at, guard = guard, axes = { [first + 1] = true }, inner = { [first] = true, [first + 1] = true } }
end

-- The reduce's input so; beyond the end there is `fill`.
local function parted(g, x, l) return g:view(x.inputs[1], l.shape, l.at, l.guard, starts[x.op]) end

-- A divisor of n that makes about as many parts, if there is one; else that many.
local function parts_of(n, wanted)
  for parts = wanted, math.max(2, wanted // 2), -1 do
    if n % parts == 0 then return parts end
  end
  return wanted
end

local function cut(g, x, parts, n)
  local size = (n + parts - 1) // parts
  parts = (n + size - 1) // size
  g.from = x.from
  local l = layout(x, parts, size, n)
  local partial = g:reduce(x.op, parted(g, x, l), l.axes)
  x.inputs, x.axes = { partial }, { [#x.shape + 1] = true }
end

-- ---- squared distances

--- A node of fewer dimensions as one of this shape, which has the axes besides.
function M.spread(g, x, shape, axes)
  return g:view(x, shape, function(i) return lists.filter(i, function(_, d) return not axes[d] end) end)
end

-- How many elements each part has, as the last dimension of a shape.
local function counts(g, shape, size, n, dtype)
  local parts = shape[#shape]
  if parts * size == n then return g:fill(size, {}, dtype) end
  local line = ("(A < %d ? %s : %s)"):format(parts - 1, text.number(size, dtype), text.number(n - (parts - 1) * size, dtype))
  return g:map(line, dtype, { g:iota(parts) }, dtype, { "int64" })
end

-- The first element of each row: distances from it lose little where all elements are far from zero.
local function pivot(g, x)
  local before, sizes = { inputs = x.inputs, axes = x.axes }, expression.axes(x)
  return g:view(x.inputs[1], x.shape, function(i)
    return expression.merged(before, i, index.unravel(index.const(0), sizes))
  end)
end

-- Zero outside the parts' elements.
local function inside(g, x, l)
  return l.guard and g:view(x, l.shape, function(i) return i end, l.guard, 0) or x
end

--- The squared distances from the mean of all from those of parts, and the sum of the distances where it is asked for: it is not zero,
--- because the mean is rounded. Then the squares are distances from the rounded mean. `of` is { first = an element of each row,
--- sum = a function that returns, of each row, the sum of distances from it; means = those of parts, less `first`;
--- own = squared distances of parts; counts = elements of parts; axes = those of parts; n = elements of a row }.
function M.join(g, squares, of)
  local dtype, rest, n = squares.dtype, squares.rest, g:fill(of.n, {}, squares.dtype)
  local all = rest and g:map("exact(A / B - C)", dtype, { squares.about, n, of.first }) or g:map("A / B", dtype, { of.sum(), n })
  all = M.spread(g, all, of.means.shape, of.axes)
  local apart = g:map("A + D * (B - C) * (B - C)", dtype, { of.own, of.means, all, of.counts })
  if rest then rest.inputs, rest.axes = { g:map("C * (A - B)", dtype, { of.means, all, of.counts }) }, of.axes end
  squares.inputs, squares.axes = { apart }, of.axes
end

-- The sum and the squared distances from its mean, by parts.
local function moments(g, squares, parts, size, n, further)
  local sum, dtype = squares.about, squares.dtype
  g.from = squares.from
  local l = layout(sum, parts, size, n)
  local x = parted(g, sum, l)
  local first, last = pivot(g, sum), { [#sum.shape + 1] = true }
  local y = inside(g, g:map(tools.apart, dtype, { x, M.spread(g, first, l.shape, l.inner) }), l)
  local sums, moved = g:reduce("sum", x, l.axes), g:reduce("sum", y, l.axes)
  local count = counts(g, sums.shape, size, n, dtype)
  local means = g:map("A / B", dtype, { moved, count })
  local own = g:reduce("sum", inside(g, g:map("(A - B) * (A - B)", dtype, { y, M.spread(g, means, l.shape, l.axes) }), l), l.axes)
  local function all() return g:reduce("sum", moved, last) end
  M.join(g, squares, { first = first, sum = all, means = means, own = own, counts = count, axes = last, n = n })
  for _, one in ipairs(further) do
    if one.n % size == 0 then aligned.take(g, one, sums, size) end
  end
  sum.inputs, sum.axes = { sums }, last
end

-- Elements that lie together, along the axes that go: a part is best cut where they end.
local function stretch(x)
  local shape, n = x.inputs[1].shape, 1
  for d = #shape, 1, -1 do
    if shape[d] > 1 and not x.axes[d] then break end
    n = n * shape[d]
  end
  return n
end

-- Whether neighbours in memory are in different rows, as far as can be told.
local function is_across(x) return stretch(x) == 1 end

-- The best size of a part that divides n, `most` at most: it fits packs, runs of memory and the wanted size. Nil if there is none.
local function size_of(n, most, together, wanted)
  local best, worth = nil, 0
  for parts = (n + most - 1) // most, (2 * n + most - 1) // most do
    local size = n // parts
    if n % parts == 0 then
      local value = (size % 4 == 0 and 2 or 1) + ((together % size == 0 or size % together == 0) and 2 or 0) + (wanted % size == 0 and 4 or 0)
      if value > worth then best, worth = size, value end
    end
  end
  return best
end

-- The size of a part, where squared distances are better taken by parts.
local function moments_size(g, x, r, n, options, further)
  local across = is_across(x)
  local blocks = rates.busy(options.chip, BLOCKS)
  local few = n // (options.part or LEAST) >= 2 and r * 2 <= blocks
  local stays = not few and n <= lanes.capacity(options.chip, types.size(x.dtype), across)
  if stays and not (further[1] and n >= 2 * (options.part or LEAST) and aligned.are_all(g, x, further)) then return nil end
  local most = math.min(across and COLUMN or ROW, few and math.max(options.part or LEAST, n * r // blocks) or n)
  local wanted = further[1] and further[1].n or n
  if stays then most = math.min(most, wanted) end
  return size_of(n, most, stretch(x), wanted) or most
end

-- How many parts a reduce is best cut into, below 2 where it stays whole. A block has a row; where neighbours in memory are in different rows it has as many
-- as a warp has lanes, and few such blocks read slower than memory is.
local function most_parts(x, r, n, options)
  local blocks, least, held = rates.busy(options.chip, BLOCKS), options.part or LEAST, math.max(1, r)
  if is_across(x) and n > lanes.capacity(options.chip, types.size(x.dtype), true) then
    held, least = (held + WARP - 1) // WARP, least // WARP
    if SLOW * held > options.chip.sms then return 0 end
  end
  return math.min(blocks // held, n // least)
end

function M.long(g, options)
  local done, sums = {}, aligned.sums(g)
  for _, x in ipairs({ table.unpack(g.nodes) }) do
    local y = x.kind == "reduce" and x.about
    local r, n = 0, 0
    if y then r, n = rows.space(x) end
    local further = n > 0 and aligned.of(sums, y) or {}
    local size = y and y.inputs[1] and moments_size(g, x, r, n, options, further)
    if size and size < n then
      moments(g, x, (n + size - 1) // size, size, n, further)
      for _, one in ipairs(further) do done[one.node] = one.n % size == 0 end
      done[x], done[y], done[x.rest or x] = true, true, true
    end
  end
  g:clean()
  for _, x in ipairs({ table.unpack(g.nodes) }) do
    if x.kind == "reduce" and can[x.op] and not done[x] then
      local r, n = rows.space(x)
      local most = most_parts(x, r, n, options)
      if most >= 2 and not (x.is_begun and n <= BEGUN) and (x.inputs[1].dtype:find "float" or starts[x.op] == 0) then cut(g, x, parts_of(n, most), n) end
    end
  end
  g.from = nil
  return g:clean()
end

return M
