-- kernel: sums of values that lie together by their keys, with what follows from them, for the generator of segments.

local accesses = require "cawb.compose.emit.accesses"
local expression = require "cawb.compose.emit.expression"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local segments = require "cawb.compose.emit.segment.text"

local M = {}

local sums = accesses.sums

local WIDE = 4        -- neighbours of a thread

-- Neighbours that have the same keys: those behind the axis, where the keys are of one element there.
local function vector_of(x, keys)
  local _, _, inner = accesses.around(x.shape, x.axis)
  local _, _, behind = accesses.around(keys.shape, x.axis)
  return behind == 1 and inner % WIDE == 0 and sums[x.dtype] == "float" and WIDE or 1
end

-- Indices of the neighbours of a pack (o, k, i) of a shape; `k` is an expression.
local function pack(shape, axis, k, v)
  local _, _, inner = accesses.around(shape, axis)
  return lists.times(v, function(lane)
    return accesses.along(shape, axis, k, index.plus(index.scale(index.var("i", inner // v), v), lane - 1))
  end)
end

local function described(kernel)
  local x = accesses.anchor(kernel, { segment = true })
  if not sums[x.dtype] then expression.refuse("no segment sums " .. x.dtype) end
  local v = vector_of(x, x.inputs[2])
  local write = accesses.written(x, pack(x.shape, x.axis, index.var("place", x.shape[x.axis]), v), "sum[%d]")
  accesses.follow(kernel, x, write)
  return { x = x, v = v, write = write }
end

function M.accepts(kernel) return expression.attempt(described, kernel) end

-- The number of a place's bound: bounds are one more than places, along the axis of the keys.
local function bound(x, keys)
  local rows = x.shape[x.axis] + 1
  local i = pack(x.shape, x.axis, index.var("place", rows), 1)[1]
  i = lists.map(i, function(e, d) return (d == x.axis or keys.shape[d] > 1) and e or index.const(0) end)
  return index.ravel(i, index.with(keys.shape, x.axis, rows))
end

function M.generate(kernel, options)
  local c = described(kernel)
  local x, v = c.x, c.v
  local values, keys = table.unpack(x.inputs)
  local a, n, outer, places, inner = accesses.new(kernel, x), values.shape[x.axis], accesses.around(x.shape, x.axis)
  local lines, _, behind = accesses.around(keys.shape, x.axis)
  local d = { type = sums[x.dtype], outer = outer, places = places, inner = inner // v, vector = v, n = n, lines = lines, behind = behind }
  d.key = a:value(keys, accesses.along(keys.shape, x.axis, index.var("k", n)))
  d.load = a:values(values, pack(values.shape, x.axis, index.var("k", n), v))
  d.bound, d.store = ("return %s;"):format(index.c(bound(x, keys))), a:write(c.write)
  return a:finish(segments.generate(a:describe(d), options))
end

return M
