-- tensor/family: what products and convolutions on tensor cores have in common as families of kernels (schedule/generators.lua): the kernel's
-- node is served, its geometry (tensor.lua) is made, and its factors and roots are such that the kernels can be.

local expression = require "cawb.compose.emit.expression"
local factors = require "cawb.compose.emit.tensor.factors"
local gathered = require "cawb.compose.emit.tensor.gathered"
local sixteen = require "cawb.compose.emit.tensor.sixteen"
local tensor = require "cawb.compose.emit.tensor.tensor"
local walks = require "cawb.compose.emit.walk"

-- Refuses where a packed factor is no tensor, or where a root of a kernel does not follow from the sums of a geometry element by element.
local function check(kernel, geometry)
  for _, factor in ipairs { geometry.right, not geometry.cut and geometry.left or nil } do
    if factor.loads == false or factor.loads == nil and not factors.place(kernel, geometry.batch, factor) then expression.refuse "a factor is no tensor" end
  end
  for _, root in ipairs(kernel.roots) do geometry.write(walks.new(kernel), root, { "first", "second" }) end
  if geometry.turned then geometry.turned.write(walks.new(kernel), kernel.roots[1], "value") end
end

local function make(kernel, g, options)
  return (g.cut and gathered or g.dtype and sixteen or tensor).kernels(kernel, g, tensor.loop(options.chip, true))
end

--- Makes M a family: `M.serves(x, options)` says whether a node can be made, or nil and why not; `geometry(kernel, x, options, served)`
--- raises a refusal. A node that others follow from, element by element, is the kernel's one member, and these are its roots.
return function(M, geometry)
  return expression.family(M, function(kernel, options)
    local x = kernel.members[1] or kernel.roots[1]
    local served, why = M.serves(x, options)
    if not served then expression.refuse(why) end
    local g = geometry(kernel, x, options, served)
    check(kernel, g)
    return g
  end, make)
end
