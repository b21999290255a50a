-- single_element: a reduction over a single element is that element.

local tools = require "cawb.compose.operators.tools"
local views = require "cawb.compose.rewrite.views"

local joins = { sum = true, prod = true, max = true, min = true }

local M = { says = "it joins one element, which it is" }

function M.apply(g, x)
  if x.kind ~= "reduce" or not joins[x.op] or tools.count(x.inputs[1].shape, x.axes) ~= 1 then return nil end
  if x.dtype ~= x.inputs[1].dtype then return nil end
  return views.dropped(g, x.inputs[1], x.axes)
end

return M
