-- segment: sums of values that lie together by their keys, with what follows from them. Results are numbered (o, place, i) as elements of a
-- scan, i counting packs of neighbours. A first launch finds where the keys of each place begin, by halving.

local accesses = require "cawb.compose.emit.accesses"
local expression = require "cawb.compose.emit.expression"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local template = require "cawb.compose.emit.template"

local ceil, sums = template.ceil, accesses.sums

-- Access functions: keys, values, where among all bounds that of a place is, and results.
local functions = {
  "long long key(INDEX o, int k, INDEX i)",
  "void load(T *v, INDEX o, int k, INDEX i)",
  "INDEX bound(INDEX o, int place, INDEX i)",
  "void store(INDEX o, int place, INDEX i, const T *sum)" }

local WIDE = 4              -- neighbours of a thread
local STRETCH = 32          -- terms of a sum that are added one after the other
local ALONE = 256           -- keys that may all be one thread's

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

-- The number of a place's bound: bounds are one more than places, along the axis of the keys.
local function bound(x, keys)
  local rows = x.shape[x.axis] + 1
  local i = pack(x.shape, x.axis, index.var("place", rows), 1)[1]
  i = lists.map(i, function(e, d) return (d == x.axis or keys.shape[d] > 1) and e or index.const(0) end)
  return index.ravel(i, index.with(keys.shape, x.axis, rows))
end

-- The kernels of a description: outer results in front of the axis, places along it, inner packs behind it, of `vector` neighbours each; n keys
-- along the axis, lines of them in front of it, and behind it. `how.lanes`: threads of a sum, a power of two below 32.
local function made(d, how)
  local total, bounds = d.outer * d.places * d.inner, d.lines * (d.places + 1) * d.behind
  if total == 0 then return { text = "", launches = {} } end
  local lanes = how and how.lanes or d.n <= ALONE and 1 or 4
  local h = { T = d.type, LANES = lanes, VECTOR = d.vector, STRETCH = STRETCH, INDEX = template.index(math.max(total * d.vector, bounds)) }
  local list = lists.map(functions, function(declaration) return (declaration:gsub("INDEX", h.INDEX)) end)
  local room = { scratch = d.name .. "_starts", dtype = "int32", numel = bounds }
  local text = template.fill("segment/segment", d, h)
  return { text = template.complete(d, template.functions(d, list), text), launches = {
    template.launch(d, "_bounds", ceil(bounds, 256), 256, room, d.n, d.places, d.behind, bounds),
    template.launch(d, "", ceil(total, 256 // lanes), 256, room, d.places, d.inner, total) } }
end

local function make(kernel, c, options)
  local x, v = c.x, c.v
  local values, keys = table.unpack(x.inputs)
  local a, n, outer, places, inner = accesses.new(kernel, x), values.shape[x.axis], accesses.around(x.shape, x.axis)
  local lines, _, behind = accesses.around(keys.shape, x.axis)
  local d = { type = sums[x.dtype], outer = outer, places = places, inner = inner // v, vector = v, n = n, lines = lines, behind = behind }
  d.key = a:value(keys, accesses.along(keys.shape, x.axis, index.var("k", n)))
  d.load = a:values(values, pack(values.shape, x.axis, index.var("k", n), v))
  d.bound, d.store = ("return %s;"):format(index.c(bound(x, keys))), a:write(c.write)
  return a:finish(made(a:describe(d), options))
end

return expression.family({}, described, make)
