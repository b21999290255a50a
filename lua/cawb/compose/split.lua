-- split: long reduces with few results become two, of parts and of what these leave, so that all of a
-- device has work and no sum is long.

local expression = require "cawb.compose.kernel.expression"
local index = require "cawb.compose.index"
local rows = require "cawb.compose.kernel.rows"

local M = {}

local BLOCKS = 512      -- that a kernel should have
local LEAST = 4096      -- elements of a part

local can = { sum = true, max = true, min = true, prod = true, any = true, all = true }

local starts = { sum = 0, prod = 1, any = false, all = true, max = "-inf", min = "inf" }

-- The reduce's input with its axes as two: parts, and places in a part. Beyond the end there is `fill`.
local function parted(g, x, parts, size, n)
  local before = { inputs = x.inputs, axes = x.axes }
  local sizes, shape = expression.axes(x), { table.unpack(x.shape) }
  local first = #shape + 1
  shape[first], shape[first + 1] = parts, size
  local function column(i) return index.add(i[first + 1], i[first], size) end
  local guard = parts * size > n and function(i) return { index.plus(index.scale(column(i), -1), n - 1) } end or nil
  return g:view(x.inputs[1], shape, function(i)
    return expression.merged(before, { table.unpack(i, 1, first - 1) }, index.unravel(column(i), sizes))
  end, guard, starts[x.op])
end

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
  local view = parted(g, x, parts, size, n)
  local axes = { [#x.shape + 2] = true }
  local partial = g:reduce(x.op, view, axes)
  x.inputs, x.axes = { partial }, { [#x.shape + 1] = true }
end

--- Split what is long in a graph.
function M.long(g, options)
  for _, x in ipairs({ table.unpack(g.nodes) }) do
    if x.kind == "reduce" and can[x.op] then
      local r, n = rows.space(x)
      local most = math.min(BLOCKS // math.max(1, r), n // (options.least or LEAST))
      if most >= 2 and (x.inputs[1].dtype:find "float" or starts[x.op] == 0) then cut(g, x, parts_of(n, most), n) end
    end
  end
  g.from = nil
  return g:clean()
end

return M
