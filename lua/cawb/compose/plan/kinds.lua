-- kinds: what a launch of a candidate is for, in a word or two: by family, and by the part of a product that it does.

local lists = require "cawb.base.lists"
local rates = require "cawb.compose.cost.rates"
local show = require "cawb.compose.plan.show"
local tensors = require "cawb.compose.schedule.tensor_cores"

local M = {}

local families = { stream = "elementwise", rows = "rows", window = "window", scan = "scan", order = "sort", segment = "sums of segments", cell = "recurrent layer",
                   attend = "attention", conv = "convolution", product = "product" }

-- What a launch does beside its kernel's main one, by the end of its name.
local parts = { { "_full$", "again" }, { "_again$", "again" }, { "_wide$", "again" }, { "_left$", "packing" }, { "_right$", "packing" }, { "_pack$", "packing" },
                { "_weights$", "packing" }, { "_finish$", "sums of parts" }, { "_sum$", "sums of parts" } }

--- The kind of a kernel: "convolution", "elementwise", "library's product", ...
function M.of(kernel)
  local is_conv = kernel.kind == "conv"
  if kernel.call then return is_conv and "library's convolution" or "library's product" end
  if kernel.by == "tensor" then return is_conv and "convolution" or "product" end
  return families[kernel.by] .. ((kernel.by == "conv" or kernel.by == "product") and ", plain" or "")
end

-- The end of a launch's name behind its kernel's.
local function ending(kernel, launch)
  local function is_in_front(name) return launch.kernel:sub(1, #name) == name end
  local name = lists.first({ kernel.as or kernel.name, kernel.name }, is_in_front) or launch.kernel
  return launch.kernel:sub(#name + 1)
end

--- The kind of one of its launches: that of the kernel, or what is done beside it.
function M.of_launch(kernel, launch)
  local rest = ending(kernel, launch)
  local part = lists.first(parts, function(one) return rest:find(one[1]) end)
  return part and part[2] or M.of(kernel)
end

--- The kinds of all launches and calls of a call of the plan, in order, with the kernel of each: { { kind =, kernel = }, ... }.
function M.list(made)
  local list = {}
  for _, kernel in ipairs(made.kernels) do
    if kernel.call then list[#list + 1] = { kind = M.of(kernel), kernel = kernel } end
    for _, launch in ipairs(show.launched(kernel)) do list[#list + 1] = { kind = M.of_launch(kernel, launch), kernel = kernel } end
  end
  return list
end

--- Seconds that a kernel takes at least: its bytes at DRAM's rate, or its products at the tensor cores'. A tensor that lies in L2 takes less.
function M.least(kernel, chip)
  local flops = (kernel.kind == "conv" or kernel.kind == "product") and tensors.operations(kernel) or 0
  local narrow = kernel.roots[1].dtype:find "16"
  return math.max(show.bytes(kernel) / chip.dram, chip.tensor and flops / (rates.tensor(chip) / (narrow and 1 or rates.PRODUCTS)) or 0)
end

--- How many launches of a plan's call are of each kind; and launches before the first call.
function M.counts(made)
  local counts = {}
  for _, one in ipairs(M.list(made)) do counts[one.kind] = (counts[one.kind] or 0) + 1 end
  return counts, lists.sum(made.kernels, function(kernel) return #show.launched(kernel, true) end)
end

return M
