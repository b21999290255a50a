-- kernel_conv: convolutions that no library computes, or with an epilogue: those of few channels by the generator of windows, others as
-- products.

local accesses = require "cawb.compose.emit.accesses"
local expression = require "cawb.compose.emit.expression"
local grids = require "cawb.compose.emit.grids"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local product = require "cawb.compose.emit.product.product"
local types = require "cawb.torch.types"
local windows = require "cawb.compose.emit.window.window"

local M = {}

-- Three numbers from one for each axis of space.
local function three(list, default)
  local all = { table.unpack(list) }
  while #all < 3 do table.insert(all, 1, default) end
  return all
end

local var, FIRST = index.var, "const int t = w / 4;"

-- The indices of the element p, d, h, w of batch, channels and space, and of four neighbours.
local function at(x) return (accesses.in_space(x.shape, 2)) end

local function four(x) return accesses.four_in_space(x.shape, 2) end

-- The weight of o and c at a place, given as one index for each axis of its window.
local function weight(a, x, taps)
  local w, c = x.inputs[2], x.conv
  local first, second = var("o", w.shape[1]), var("c", w.shape[2])
  if c.transposed then first, second = var("c", w.shape[1]), var("o", w.shape[2]) end
  return a:value(w, { first, second, table.unpack(taps) })
end

-- A description without texts.
local function sizes(x)
  local c, in_x = x.conv, x.inputs[1]
  return { type = types.register(x.dtype), groups = c.groups, transposed = c.transposed, batch = x.shape[1],
           channels = in_x.shape[2] // c.groups, each = x.shape[2] // c.groups, window = three(c.taps, 1),
           stride = three(c.stride, 1), padding = three(c.padding, 0), dilation = three(c.dilation, 1),
           size = three({ table.unpack(in_x.shape, 3) }, 1), out = three({ table.unpack(x.shape, 3) }, 1) }
end

-- What is written of each element; and of four neighbours, nil where lines are no packs of four.
local function write(x) return accesses.written(x, { at(x) }, "value") end

local function write_four(x)
  local list = four(x)
  return list and accesses.written(x, list, "v[%d]")
end

local function describe(kernel, x)
  local a, d = accesses.new(kernel, x), sizes(x)
  d.load, d.store = a:value(x.inputs[1], at(x.inputs[1])), a:write(write(x))
  return a, d
end

local function weight_of_tap(a, x) return weight(a, x, index.unravel(var("t", grids.product(x.conv.taps)), x.conv.taps)) end

-- Depthwise ones and those of a few channels: a thread has neighbours of the output.
local function by_window(a, d, x, chip)
  local names = { "a", "b", "k" }
  local taps = lists.map(x.conv.taps, function(n, k) return var(names[3 - #x.conv.taps + k], n) end)
  d.op, d.planes, d.weight = "product", x.shape[1] * x.shape[2], weight(a, x, taps)
  d.load4 = types.size(x.dtype) == 4 and four(x.inputs[1]) and a:values(x.inputs[1], four(x.inputs[1]), FIRST) or nil
  local wide = write_four(x)
  d.store4 = wide and a:write(wide, FIRST) or nil
  return windows.made(a:describe(d), nil, chip)
end

local function is_small(d)
  return not d.transposed and (d.each < 8 or d.channels * d.window[1] * d.window[2] * d.window[3] <= 32)
end

-- The convolution, and as which product it is made, if not by windows; raises a refusal.
local function chosen(kernel)
  local x = accesses.anchor(kernel, { conv = true })
  local d = sizes(x)
  local small = is_small(d) and product.computes(x.dtype) and not windows.refusal(d)
  if not small then return { product = product.describe(kernel) } end
  accesses.follow(kernel, x, write(x), write_four(x))
  return { x = x }
end

local function make(kernel, c, options, chip)
  if c.product then return product.make(kernel, c.product, options, chip) end
  local a, d = describe(kernel, c.x)
  return a:finish(by_window(a, d, c.x, chip))
end

--- For other generators of convolutions:
---   sizes     the sizes of a description
---   describe  accesses, and a description that reads the input and writes the roots
---   weight    the text of an access function for the weight of a tap, by its number
---   write     what is written of an element, as accesses.follow takes it
---   at        a result's indices
M.sizes, M.describe, M.weight, M.write, M.at = sizes, describe, weight_of_tap, write, at

return expression.family(M, chosen, make)
