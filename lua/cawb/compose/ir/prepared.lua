-- prepared: work on parameters alone. It is done before the first call, and again after parameters have changed.

local lists = require "cawb.base.lists"

local M = {}

--- Kinds that can be prepared. Library calls and outputs cannot: the plan makes them in each call.
M.kinds = { map = true, view = true, reduce = true, scan = true, pick = true }

-- The leaves below a node: "params", "inputs" (among others), or "nothing" of both.
local function made_of(x)
  if x.made_of then return x.made_of end
  local found = "inputs"
  if x.kind == "leaf" then
    found = x.source:find "^param:" and "params" or x.source:find "^input:" and "inputs" or "nothing"
  elseif M.kinds[x.kind] and not x.is_output then
    local below = lists.set(lists.map(x.inputs, made_of))
    found = below.inputs and "inputs" or below.params and "params" or "nothing"
  end
  x.made_of = found
  return found
end

local function is_fixed(x) return made_of(x) ~= "inputs" end

--- Whether a node is made of parameters alone, so that its kernel may run before the first call.
function M.is(x) return made_of(x) == "params" end

--- Whether two kernels may be one: a kernel before the first call is not fused with a kernel of a call.
function M.together(a, b)
  return lists.all(a.roots, M.is) == lists.all(b.roots, M.is)
end

--- Whether a kernel may be one: in a call none stores what no input is below, since kernels that read it run before the first call.
function M.may(kernel)
  return not lists.any(kernel.roots, is_fixed) or lists.all(kernel.roots, is_fixed)
end

-- Whether a kernel depends on no inputs and stores no outputs. Kernels of constants alone are prepared, too.
local function is_ahead(kernel)
  return not kernel.call and kernel.made and lists.all(kernel.roots, is_fixed)
end

--- Marks the launches of kernels that may run before the first call, and the nodes that they write: of a slice the whole, which has the place.
function M.mark(kernels)
  for _, kernel in ipairs(kernels) do
    if is_ahead(kernel) then
      kernel.prepare = true
      for _, x in ipairs(kernel.roots) do (x.slice_of or x).persistent = true end
      for _, launch in ipairs(kernel.made.launches) do launch.prepare = true end
    end
  end
end

return M
