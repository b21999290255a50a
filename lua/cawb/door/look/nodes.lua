-- nodes: what compose made, kernel by kernel: the nodes of the graph that it computes, and where it stands in kernel.cu.

local core = require "cawb.core"
local plan = require "cawb.compose.plan.plan"
local show = require "cawb.compose.plan.show"

local M = {}

-- The first word before a bracket that is a kernel's name.
local function named(line)
  for word in line:gmatch "([%w_]+)%s*%(" do
    if word ~= "__launch_bounds__" then return word end
  end
end

-- The line at which each kernel begins. Its name may stand on the next one.
local function heads(source)
  local at, number, begun = {}, 0, nil
  for line in (source .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    if line:find "__global__" then begun = number end
    local name = begun and named(line)
    if name then at[name], begun = at[name] or begun, nil end
  end
  return at
end

local function shapes(kernel)
  local words = {}
  for k, x in ipairs(kernel.roots) do words[k] = ("%s [%s]"):format(x.dtype, table.concat(x.shape, ", ")) end
  return table.concat(words, " ")
end

-- The kernel's launches may have other names: those of a family of kernels begin with its own.
local function line_of(kernel, at)
  local best
  for name, line in pairs(at) do
    if name == kernel.name or name:find(kernel.name .. "_", 1, true) == 1 then best = math.min(best or line, line) end
  end
  return best
end

--- Of what compose.make returned: { { name =, computes = nodes of the graph, kind =, writes = shapes, bytes = at least, line = or nil } }.
function M.of(made)
  local list, at = core.json.array {}, heads(made.source)
  for i, kernel in ipairs(made.kernels) do
    list[i] = { name = kernel.call and "library call" or kernel.as or kernel.name, computes = plan.about(kernel), kind = kernel.kind, writes = shapes(kernel),
                bytes = show.bytes(kernel), line = not kernel.call and line_of(kernel.as and { name = kernel.as } or kernel, at) or nil }
  end
  return list
end

return M
