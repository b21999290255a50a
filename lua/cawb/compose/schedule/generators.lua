-- generators: which generator makes a kernel, the fastest that serves first; and which kernels are calls of libraries.

local cell = require "cawb.compose.emit.cell.kernel"
local conv = require "cawb.compose.emit.product.kernel_conv"
local expression = require "cawb.compose.emit.expression"
local order = require "cawb.compose.emit.order.kernel"
local product = require "cawb.compose.emit.product.kernel"
local rows = require "cawb.compose.emit.rows.rows"
local scan = require "cawb.compose.emit.scan.kernel"
local stream = require "cawb.compose.emit.rows.stream"
local tensors = require "cawb.compose.schedule.tensor_cores"
local window = require "cawb.compose.emit.window.kernel"

local M = {}

local generators = { stream = stream.generate, rows = rows.generate, scan = scan.generate, order = order.generate,
                     cell = cell.generate, conv = conv.generate, product = product.generate }

local anchors = { scan = true, order = true, conv = true, product = true, attend = true }

-- Whether a library would compute the kernel.
local function is_library(kernel)
  local x = kernel.members[1] or kernel.roots[1]
  return (kernel.kind == "product" or kernel.kind == "conv") and not x.own
end

-- `loop`: the schedule's choice, "tensor", "packed", "box", "gathered", "library" or "simt"; nil for the one that should be fastest.
local function on_tensor_cores(kernel, options, how)
  local loop = how and how.loop
  if loop == "library" or loop == "simt" then return nil end
  if kernel.kind == "attend" then options = setmetatable({ how = how or false }, { __index = options }) end
  return tensors.generate(kernel, tensors.asked(options, loop))
end

--- Whether a product or convolution can be made without libraries and tensor cores: a bias is not a part of it then.
function M.may_be_own(kernel)
  local x = kernel.members[1] or kernel.roots[1]
  return not x.inputs[3]
end

--- Text and launches of a kernel; nil and why not where none here makes it, nil alone where a library does. `options`:
--- chip, that it is for; kernels(kernel): how to go about one. The kernel gains `by`, the generator's kind, and `loop` of a product.
function M.generate(kernel, options)
  local how = options.kernels and options.kernels(kernel)
  local loop = how and how.loop
  local made = on_tensor_cores(kernel, options, how)
  kernel.by, kernel.loop = kernel.kind == "attend" and "attend" or "tensor", loop or "tensor"
  if made then return made end
  kernel.by, kernel.loop = kernel.kind, "library"
  if is_library(kernel) and not (loop == "simt" and M.may_be_own(kernel)) then return nil end
  kernel.loop = "simt"
  if kernel.kind == "stream" or (kernel.kind == "rows" and #kernel.members == 1) then
    local made = expression.attempt(window.generate, kernel, how)
    kernel.by = made and "window" or kernel.kind
    if made then return made end
  end
  local generate = generators[kernel.kind]
  if not generate then return nil, ("no generator makes a %s"):format(kernel.kind) end
  local own, why = expression.attempt(generate, kernel, how, options.chip)
  if own or not how then return own, why end
  return expression.attempt(generate, kernel, nil, options.chip)       -- what is asked for does not go
end

--- Whether an epilogue may become a part of the kernel, if M.generate then makes it.
function M.is_anchor(kernel) return anchors[kernel.kind] == true end

return M
