-- legal: whether products on tensor cores can be made for a kernel: what its factors read, and what follows from its sums.

local expression = require "cawb.compose.emit.expression"
local index = require "cawb.compose.ir.index"
local walks = require "cawb.compose.emit.walk"

local M = {}

--- Where the first element that a factor loads lies, as an expression of z, row and k, and its tensor; nil if the factor is no tensor.
function M.place(kernel, batch, factor)
  local walk, first, from = walks.new(kernel), nil, nil
  function walk.load(_, node, i)
    if not first then first, from = index.place(i, node.strides, node.offset), node end
    return ""
  end
  factor.element(walk, index.var("z", batch), index.var("row", factor.rows), index.var("k", factor.depth))
  return first, from
end

--- Refuses where a packed factor is no tensor, or where a root of a kernel does not follow from the sums of a geometry (tensor.lua)
--- element by element. `packed`: the factors that are packed.
function M.check(kernel, geometry, packed)
  for _, factor in ipairs(packed) do
    if factor.loads == false or factor.loads == nil and not M.place(kernel, geometry.batch, factor) then expression.refuse "a factor is no tensor" end
  end
  for _, root in ipairs(kernel.roots) do geometry.write(walks.new(kernel), root, { "first", "second" }) end
  if geometry.turned then geometry.turned.write(walks.new(kernel), kernel.roots[1], "value") end
end

return M
