-- generators: which generator makes a kernel, the fastest that serves first; and which kernels are calls of libraries.

local kernels = require "cawb.compose.schedule.kernels"
local tensors = require "cawb.compose.schedule.tensor_cores"

local M = {}

-- Those without tensor cores, by kinds of kernels; `window` makes some streams and rows.
local families = {}
for kind, name in pairs { stream = "rows.stream", rows = "rows.rows", scan = "scan.scan", order = "order.order", segment = "segment.segment", cell = "cell.kernel",
                          conv = "product.kernel_conv", product = "product.product", window = "window.window" } do
  families[kind] = require("cawb.compose.emit." .. name)
end

local anchors = { scan = true, order = true, segment = true, conv = true, product = true, attend = true }

local function is_library(kernel)
  local x = kernels.anchor(kernel)
  return (kernel.kind == "product" or kernel.kind == "conv") and not x.own and not kernels.begins_sums(kernel)
end

-- On tensor cores, as M.accepts has it; or nil and why not. `how.loop`: the schedule's choice, "tensor", "packed", "box", "gathered", "library" or "simt"; nil
-- for the one that should be fastest.
local function on_tensor_cores(kernel, options, how)
  local loop = how and how.loop and (kernels.begins_sums(kernel) and "box" or how.loop)      -- boxes alone begin sums
  if loop == "library" or loop == "simt" or kernel.is_call then return nil end
  if kernel.kind == "attend" then options = setmetatable({ how = how or false }, { __index = options }) end
  options = tensors.asked(options, loop)
  local family, described = tensors.accepts(kernel, options)
  if not family then return nil, described end
  return { family = family, by = kernel.kind == "attend" and "attend" or "tensor", loop = loop or "tensor", options, accepted = described }
end

--- Whether a product or convolution can be made without libraries and tensor cores: a bias is not a part of it then.
function M.may_be_own(kernel)
  return not kernels.anchor(kernel).inputs[3]
end

-- A family without tensor cores, as M.accepts has it; without the schedule's options if it cannot be with them.
local function plain(kernel, options, how)
  local family = families[kernel.kind]
  if not family then return nil, ("no generator makes a %s"):format(kernel.kind) end
  local fine, why = family.accepts(kernel, how, options.chip)
  if not fine and how then
    how = nil
    fine, why = family.accepts(kernel, nil, options.chip)
  end
  if not fine then return nil, why end
  return { family = family, by = kernel.kind, loop = "simt", how or false, options.chip, accepted = fine }
end

--- Which family makes a kernel, before there is a text of it: { family, by, loop, arguments ...; accepted, what the
--- family's accepts returned }; nil and why not where none here makes
--- it, nil alone where a library does. `options`: chip, that it is for; kernels(kernel): how to go about one. Nothing changes.
function M.accepts(kernel, options)
  local how = options.kernels and options.kernels(kernel)
  local found = on_tensor_cores(kernel, options, how)
  if found then return found end
  if is_library(kernel) and not (how and how.loop == "simt" and M.may_be_own(kernel)) then return nil end
  local may_be_window = kernel.kind == "stream" or kernel.kind == "rows" and #kernel.members == 1
  local window, stream = families.window, families.stream
  local windowed = may_be_window and window.accepts(kernel, how, options.chip)
  if windowed then
    if not (how and how.window == false) then return { family = window, by = "window", loop = "simt", how or false, options.chip, accepted = windowed } end
    if stream.accepts(kernel, how) then return { family = stream, by = "stream", loop = "simt", how, options.chip } end
  end
  return plain(kernel, options, how)
end

--- Text and launches of a kernel; nil and why not, as M.accepts. options.texts counts texts, in [1]. The kernel gains `by`, the generator's kind, and `loop` of a product;
--- and `instead`, why a library's call has no tensor cores.
function M.generate(kernel, options)
  local found, why = M.accepts(kernel, options)
  if not found then
    kernel.by, kernel.loop = kernel.kind, "library"
    if not why then kernel.instead = select(2, on_tensor_cores(kernel, options, options.kernels and options.kernels(kernel))) end
    return nil, why
  end
  kernel.by, kernel.loop = found.by, found.loop
  if options.texts then options.texts[1] = options.texts[1] + 1 end
  return found.family.generate(kernel, found[1] or nil, found[2], found.accepted)
end

--- Whether an epilogue may become a part of the kernel, if M.accepts then takes it.
function M.is_anchor(kernel) return anchors[kernel.kind] == true end

return M
