-- choose: which generator makes a kernel, the fastest that serves first; and which kernels are calls of libraries.

local cell = require "cawb.compose.kernel.cell"
local conv = require "cawb.compose.kernel.conv"
local expression = require "cawb.compose.kernel.expression"
local order = require "cawb.compose.kernel.order"
local product = require "cawb.compose.kernel.product"
local rows = require "cawb.compose.kernel.rows"
local scan = require "cawb.compose.kernel.scan"
local stream = require "cawb.compose.kernel.stream"
local tensor_conv = require "cawb.compose.kernel.tensor_conv"
local tensor_matrix = require "cawb.compose.kernel.tensor_matrix"
local window = require "cawb.compose.kernel.window"

local M = {}

local generators = { stream = stream.generate, rows = rows.generate, scan = scan.generate, order = order.generate,
                     cell = cell.generate, conv = conv.generate, product = product.generate }

-- Where the device has them.
local tensors = { product = tensor_matrix.generate, conv = tensor_conv.generate }

local anchors = { scan = true, order = true, conv = true, product = true }

-- What a library would compute.
local function is_library(kernel)
  local x = kernel.members[1] or kernel.roots[1]
  return (kernel.kind == "product" or kernel.kind == "conv") and not x.own
end

--- Text and launches of a kernel; nil and why not where none here makes it, nil alone where a library does. `options`:
--- arch, of the device; kernels(kernel): how to go about one.
function M.generate(kernel, options)
  local on_tensor_cores = tensors[kernel.kind]
  if on_tensor_cores then
    local made = expression.attempt(on_tensor_cores, kernel, options)
    if made then return made end
  end
  if is_library(kernel) then return nil end
  local how = options.kernels and options.kernels(kernel)
  if kernel.kind == "stream" or (kernel.kind == "rows" and #kernel.members == 1) then
    local made = expression.attempt(window.generate, kernel, how)
    if made then return made end
  end
  local generate = generators[kernel.kind]
  if not generate then return nil, ("no generator makes a %s"):format(kernel.kind) end
  return expression.attempt(generate, kernel, how)
end

--- Whether what stands behind a kernel may become a part of it, if M.generate then makes it.
function M.is_anchor(kernel) return anchors[kernel.kind] == true end

return M
