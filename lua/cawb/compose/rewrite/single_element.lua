-- single_element: a reduction over a single element is that element.

local index = require "cawb.compose.ir.index"
local tools = require "cawb.compose.operators.tools"

local joins = { sum = true, prod = true, max = true, min = true }

local M = { says = "it joins one element, which it is" }

function M.apply(g, x)
  if x.kind ~= "reduce" or not joins[x.op] or tools.count(x.inputs[1].shape, x.axes) ~= 1 then return nil end
  if x.dtype ~= x.inputs[1].dtype then return nil end
  return g:view(x.inputs[1], x.shape, function(i)
    local j, at = {}, 0
    for d = 1, #x.inputs[1].shape do
      if x.axes[d] then j[d] = index.const(0)
      else
        at = at + 1
        j[d] = i[at]
      end
    end
    return j
  end)
end

return M
