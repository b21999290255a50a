-- tensor: which generator makes a product, a convolution or attention on tensor cores.

local attend = require "cawb.compose.kernel.attend"
local expression = require "cawb.compose.kernel.expression"
local tensor_box = require "cawb.compose.kernel.tensor_box"
local tensor_conv = require "cawb.compose.kernel.tensor_conv"
local tensor_matrix = require "cawb.compose.kernel.tensor_matrix"

local M = {}

local none = {}

-- The generators to ask for a node, the one that should be fastest first.
local function generators(x, kind, options)
  if kind == "product" then return { tensor_matrix } end
  if kind == "attend" then return { attend } end
  if kind ~= "conv" then return none end
  if options.conv then return { options.conv == "box" and tensor_box or tensor_conv } end
  local boxed, packed = tensor_box.cost(x, options), tensor_conv.cost(x, options)
  if boxed and packed and packed < boxed then return { tensor_conv, tensor_box } end
  return { tensor_box, tensor_conv }
end

local function anchor(kernel) return kernel.members[1] or kernel.roots[1] end

--- Whether a generator here makes the kernel's product or convolution; `options` as of choose.generate, and conv: "box" or
--- "packed", which one is to make convolutions.
function M.serves(kernel, options)
  local x = anchor(kernel)
  for _, generator in ipairs(generators(x, kernel.kind, options)) do
    if generator.serves(x, options) then return true end
  end
  return false
end

--- Text and launches of a kernel on tensor cores, or nil.
function M.generate(kernel, options)
  for _, generator in ipairs(generators(anchor(kernel), kernel.kind, options)) do
    local made = expression.attempt(generator.generate, kernel, options)
    if made then return made end
  end
end

return M
