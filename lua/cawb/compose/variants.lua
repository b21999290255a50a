-- variants: the options that the compiler may lower a task with, from those that are tried first to the plainest. The strategy
-- `compose` tries one variant after the other; a promotion lowers a task at further sizes as the variant that its candidate is.

local compose = require "cawb.compose.candidate"
local lists = require "cawb.base.lists"
local plan = require "cawb.compose.plan.plan"

local M = {}

M.list = { { name = "compose" }, { name = "compose/unfused", fuse = false },
           { name = "compose/plain", fuse = false, libraries = false, plain = true } }

--- A candidate of a task, made one way: see candidate.lua.
function M.make(task, options, variant)
  local device = task.device.info
  return compose.make(task, { arch = not variant.plain and device.arch or nil, tensor_cores = options.compose.tensor_cores, memory = device.memory, fuse = variant.fuse,
                              libraries = variant.libraries, rewrite = options.compose.rewrites and variant.fuse ~= false })
end

--- The variant that a candidate is; nil for one that compose did not make, or made by a schedule.
function M.of(candidate)
  return candidate.plan:find(plan.one_shape, 1, true) and lists.first(M.list, function(variant) return variant.name == candidate.name end) or nil
end

return M
