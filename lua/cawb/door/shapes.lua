-- shapes: a candidate on all the sizes next to a task's own (judge/sizes.lua).

local sizes = require "cawb.judge.verify.sizes"

local M = {}

--- Verify a candidate on the shapes beside a task's own. `opts` = { device =, options = a full
--- table, constants = of the task (task.info.constants), host = of python.start, say =
--- function(found) }. Returns a list of { shape, outcome = "right"|"wrong"|"refused"|"none",
--- reason }, or nil, message, name.
function M.check(path, candidate, opts)
  local list = {}
  for i, shape in ipairs(sizes.shapes(opts.constants)) do
    local found, message, name = sizes.try(path, candidate, opts, shape)
    if not found then return nil, message, name end
    list[i] = found
    if opts.say then opts.say(found) end
  end
  return list
end

return M
