-- ways: how the compiler may go about a task, from the one that is tried first to the plainest. The strategy `compose`
-- tries one after the other; a promotion lowers a task at further sizes in the way that its candidate was made.

local compose = require "cawb.compose.candidate"
local plan = require "cawb.compose.plan.plan"

local M = {}

M.list = { { name = "compose" }, { name = "compose/unfused", fuse = false },
           { name = "compose/plain", fuse = false, libraries = false, plain = true } }

--- A candidate of a task, made one way: see candidate.lua.
function M.make(task, options, way)
  local device = task.device.info
  return compose.make(task, { arch = not way.plain and device.arch or nil, tensor_cores = options.compose.tensor_cores, memory = device.memory, fuse = way.fuse,
                              libraries = way.libraries, rewrite = options.compose.rewrites and way.fuse ~= false })
end

--- The way in which a candidate was made; nil for one that compose did not make, or made by a schedule.
function M.of(candidate)
  for _, way in ipairs(M.list) do
    if way.name == candidate.name and candidate.plan:find(plan.one_shape, 1, true) then return way end
  end
end

return M
