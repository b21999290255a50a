-- kernel_box: convolutions of few channels, by box.lua.

local accesses = require "cawb.compose.emit.accesses"
local boxes = require "cawb.compose.emit.tensor.box"
local costs = require "cawb.compose.cost.products"
local conv = require "cawb.compose.emit.product.kernel_conv"
local expression = require "cawb.compose.emit.expression"
local graphs = require "cawb.compose.ir.graph"
local grids = require "cawb.compose.emit.grids"
local index = require "cawb.compose.ir.index"
local prepared = require "cawb.compose.ir.prepared"
local shapes = require "cawb.compose.emit.tensor.conv_shape"
local tensor = require "cawb.compose.emit.tensor.tensor"
local tensor_conv = require "cawb.compose.emit.tensor.kernel_conv"

local M = {}

local numel = grids.product

local shape_of = shapes.once(function(chip, x) return boxes.shape(boxes.flat(conv.sizes(x)), chip) end)

--- Whether a convolution can be made here, as how it would be; or nil and why not. Options as of tensor_conv.
function M.serves(x, options)
  if x.dtype ~= "float32" or x.inputs[1].dtype ~= "float32" or x.inputs[2].dtype ~= "float32" then return nil, "it is for float32" end
  local d = boxes.flat(conv.sizes(x))
  if d.each < 8 or d.channels * numel(d.window) < 8 then return nil, "it has too few channels" end
  if tensor_conv.operations(x) < (options.least or tensor_conv.LEAST) then return nil, "it is too small" end
  if numel(d.out) * d.each * d.groups * d.batch >= 1 << 40 then return nil, "it is too large" end
  local loop, why = tensor.loop(options.chip, options.emulate)
  if not loop then return nil, why end
  return shape_of(options.chip, x)
end

local LONG = 1024                     -- terms of a transposed one beyond which packing was faster on an H100

--- Seconds that it would take, roughly; or nil where it cannot be made.
function M.cost(x, options)
  local chip, shape = options.chip, M.serves(x, options)
  if not shape then return nil end
  local d = conv.sizes(x)
  if d.transposed and d.channels * numel(d.window) > LONG then return math.huge end
  local reads = numel(shape.box.reads) * d.channels
  local boxes_all = shape.items * d.groups * shape.cuts
  -- A block alone on a multiprocessor waits where two blocks would alternate; and the last round waits for its slowest block.
  local rounds = shape.group and chip.sms * math.ceil(boxes_all / chip.sms) / boxes_all * (shape.blocks == 1 and 1.25 or 1) or 1
  return costs.boxes(chip, rounds * shape.items * d.groups * 8 * shape.clocks, boxes_all * reads * 1.5 + numel(x.shape),
    4 * (0.2 * boxes_all * reads + numel(x.inputs[1].shape) + numel(x.shape)))
end

-- The kernel that brings weights into their order reads nothing else: it may run once, before the first call.
local function weights_alone(kernel, x)
  local a = accesses.new(kernel, x)
  local text = conv.weight(a, x)
  local own = a:describe { weight = text, prepare = prepared.is(x.inputs[2]) or nil }
  own.name = kernel.name .. "_weights"
  return own, a.headers
end

-- The kernel without the parts of sums that it is to make (split/partial.lua), and these; raises a refusal where the boxes are others.
local function without_parts(kernel, shape)
  local own, parts = { name = kernel.name, kind = kernel.kind, roots = {}, members = { table.unpack(kernel.members) } }, nil
  for _, root in ipairs(kernel.roots) do
    if root.kind ~= "partial" then own.roots[#own.roots + 1] = root
    elseif parts or not graphs.same(root.boxes.size, shape.box.size) then expression.refuse "its boxes are others"
    else parts = root end
  end
  if parts and #own.members == 0 then own.members[1] = parts.conv end
  return parts and own or kernel, parts
end

-- The convolution, how it is cut, the kernel without parts of sums, and these; raises a refusal. Options as for `serves`.
local function chosen(kernel, options)
  local x = accesses.anchor(kernel, { conv = true })
  local shape, why = M.serves(x, options)
  if not shape then expression.refuse(why) end
  local own, parts = without_parts(kernel, shape)
  local write = conv.write(x)
  accesses.follow(own, x, write)
  if parts then accesses.walk(own, x, write.known):value(parts.inputs[1], conv.at(x)) end
  return { x = x, shape = shape, kernel = own, parts = parts }
end

-- The value of a result that is summed, and the place of the sum.
local function add_parts(a, d, x, parts)
  local i = conv.at(x)
  d.summed = a:value(parts.inputs[1], i, { x, i, "value" })
  d.squares, d.parts = parts.squares, parts
end

local function make(_, c)
  local x, kernel = c.x, c.kernel
  local a, d = conv.describe(kernel, x)
  boxes.flat(d)
  if c.parts then add_parts(a, d, x, c.parts) end
  d.weight = conv.weight(a, x)
  if x.inputs[3] then d.bias = a:value(x.inputs[3], { index.var("o", x.shape[2]) }) end
  local own, headers = weights_alone(kernel, x)
  local made = a:finish(boxes.generate(a:describe(d), c.shape, own))
  for header in pairs(headers) do made.headers[header] = true end
  return made
end

return expression.family(M, chosen, make)
