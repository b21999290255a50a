-- tensor_cores: which generator makes a product, a convolution or attention on tensor cores.

local attend = require "cawb.compose.emit.attention.attention"
local kernels = require "cawb.compose.schedule.kernels"
local lists = require "cawb.base.lists"
local tensor_box = require "cawb.compose.emit.tensor.kernel_box"
local tensor_conv = require "cawb.compose.emit.tensor.kernel_conv"
local tensor_matrix = require "cawb.compose.emit.tensor.kernel_matrix"
local tensor_point = require "cawb.compose.emit.tensor.kernel_point"

local M = {}

local none = {}

local ways = { box = tensor_box, packed = tensor_conv, gathered = tensor_point }

-- Those of a convolution: the one that should be fastest first. Boxes, and one tap that is split on its way, are for float32.
local function of_conv(x, options)
  if x.inputs[1].dtype ~= "float32" then return { tensor_conv } end
  local boxed, packed = tensor_box.cost(x, options), tensor_conv.cost(x, options)
  local point = tensor_point.cost(x, options)
  local list = boxed and packed and packed < boxed and { tensor_conv, tensor_box } or { tensor_box, tensor_conv }
  if point and point < math.min(boxed or math.huge, packed and packed + options.chip.launch or math.huge) then table.insert(list, 1, tensor_point) end
  return list
end

-- The generators to ask for a node, the one that should be fastest first.
local function generators(x, kind, options)
  if kind == "product" then return { tensor_matrix } end
  if kind == "attend" then return { attend } end
  if kind ~= "conv" then return none end
  if options.gradients and x.inputs[1].dtype == "float32" and not options.conv then return { tensor_conv.fits(x, options) and tensor_conv or tensor_box } end
  return options.conv and { ways[options.conv] } or of_conv(x, options)
end

--- The options for a kernel if a schedule asks for this loop.
function M.asked(options, loop)
  return ways[loop] and setmetatable({ conv = loop }, { __index = options }) or options
end

--- Whether a generator here makes the kernel's product or convolution; `options` as of generators.generate, and conv: "box",
--- "packed" or "gathered", which one is to make convolutions.
function M.serves(kernel, options)
  if options.tensor_cores == false then return false end
  local x = kernels.anchor(kernel)
  return lists.any(generators(x, kernel.kind, options), function(generator) return generator.serves(x, options) end)
end

--- How a convolution would be made by boxes (box.lua), where that should be fastest; else nil.
function M.boxed(x, options)
  local first = generators(x, "conv", options)[1]
  return first == tensor_box and first.serves(x, options) or nil
end

--- Operations of a kernel's product or convolution.
function M.operations(kernel)
  local x = kernels.anchor(kernel)
  return kernel.kind == "conv" and tensor_conv.operations(x) or kernel.kind == "product" and tensor_matrix.operations(x) or math.maxinteger
end

--- The generator that makes a kernel on tensor cores, and what its `accepts` returned; or nil, and why the one that should be fastest does not.
function M.accepts(kernel, options)
  if options.tensor_cores == false then return nil end
  local first
  for _, generator in ipairs(generators(kernels.anchor(kernel), kernel.kind, options)) do
    local fine, why = generator.accepts(kernel, options)
    if fine then return generator, fine end
    first = first or why
  end
  return nil, first
end

return M
