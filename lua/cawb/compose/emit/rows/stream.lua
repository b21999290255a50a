-- stream: elementwise kernels: a thread computes a few neighbours of each output. The outputs have equally many elements.

local expression = require "cawb.compose.emit.expression"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local types = require "cawb.torch.types"
local walks = require "cawb.compose.emit.walk"

local BLOCK = 256
local AHEAD = 8          -- loads of a thread that go ahead of all else; packs of 16 bytes take 32 registers then

-- Whether one element is much text: it loops, for a reduce, or looks for its part.
local function is_long(kernel)
  local seen = {}
  local function visit(x, top)
    if seen[x] or (x.stored and not top) then return false end
    seen[x] = true
    if x.kind == "reduce" or x.pieces and #x.pieces > 2 then return true end
    return lists.any(x.inputs, function(input) return visit(input, false) end)
  end
  return lists.any(kernel.roots, function(root) return visit(root, true) end)
end

-- Neighbours of one thread: as many as 16 bytes of the widest type hold.
local function width(kernel, n)
  local widest = 1
  for _, root in ipairs(kernel.roots) do widest = math.max(widest, types.size(root.dtype)) end
  local v = is_long(kernel) and 1 or math.min(4, 16 // widest)
  while v > 1 and n % v ~= 0 do v = v // 2 end
  return v
end

-- A root's indices for the neighbours of a thread.
local function lanes(root, n, v)
  local t = index.scale(index.var("t", n // v), v)
  return lists.times(v, function(lane) return index.unravel(index.plus(t, lane - 1), root.shape) end)
end

-- What a thread of v neighbours loads, in a walk.
local function walked(kernel, n, v)
  local walk = walks.new(kernel, v)
  walk:list "t"
  for _, root in ipairs(kernel.roots) do
    for _, i in ipairs(lanes(root, n, v)) do walk:value(root, i) end
  end
  return walk
end

-- Elements n, and neighbours v of a thread, which `options.vector` may say: one where packs would end beyond a tensor. Raises a refusal.
local function shape(kernel, options)
  local n = graphs.numel(kernel.roots[1].shape)
  local v = options and options.vector or width(kernel, n)
  if n % v ~= 0 then v = 1 end
  local walk = walked(kernel, n, v)
  if walk.ends then v, walk = 1, walked(kernel, n, 1) end
  return { n = n, v = v, loads = walk.listed }
end

-- Loads go ahead of arithmetic, so that they are in flight together: ptxas moves none across the branches of a sine or a power.
local function load_ahead(body, loads)
  for k = 1, math.min(AHEAD, #loads) do body:access(loads[k].node, loads[k].place, loads[k].width) end
end

local function make(kernel, cut)
  local n, v = cut.n, cut.v
  local body = expression.new(kernel, v)
  local threads = n // v
  local wide = threads > 2147483647
  body:line("const %s t = %sblockIdx.x * %d + threadIdx.x;", wide and "long long" or "int",
    wide and "(long long)" or "", BLOCK)
  if threads % BLOCK ~= 0 then body:line("if (t >= %d/**/) return;", threads) end
  load_ahead(body, cut.loads)
  for _, root in ipairs(kernel.roots) do
    local list = lanes(root, n, v)
    body:store_all(root, list, lists.map(list, function(i) return body:value(root, i) end))
  end
  local text, nodes = body:as_kernel(BLOCK)
  return { text = text, headers = body.headers,
           launches = { { kernel = kernel.name, grid = { (threads + BLOCK - 1) // BLOCK }, block = { BLOCK }, arguments = nodes } } }
end

return expression.family({}, shape, make)
