-- quantised: a product of numbers of 8 bits, each with the scale of its row or of all, is a product of these numbers; its results are
-- scaled. So tensor cores take the numbers as they are. Behind the rules: none of them knows sums that are wider than their factors.

local index = require "cawb.compose.ir.index"
local match = require "cawb.compose.ir.tree.match"
local view = require "cawb.compose.ir.view"
local views = require "cawb.compose.rewrite.views"

local M = { says = "scales of factors of 8 bits go behind the product" }

local function is_eight(x) return x.dtype:find "^float8" ~= nil end

-- Whether a map changes the type of its operand alone.
local function is_cast(t) return t.op == "argument" or t.op == "convert" and t[1].op == "argument" and t.type:find "^b?float" ~= nil end

-- The operand of a map that is scaled, by a number that is the same all along `axis` of the factor, and how; nil where there is none.
local function scaled(g, x, see, axis)
  local sign = match.is(x.expression, "A * B") and "*" or match.is(x.expression, "A / B") and "/"
  for k = 1, sign == "*" and 2 or sign and 1 or 0 do
    local by = see(x.inputs[3 - k])
    if views.is_constant(by, { [axis] = true }) then return x.inputs[k], { sign = sign, by = by } end
  end
end

-- The numbers of 8 bits that a factor shows and their scales, summed over `axis`; nil where they are none.
local function peeled(g, x, axis)
  local at, shape, scales = function(i) return i end, x.shape, {}
  while not is_eight(x) do
    local piece, before = view.plain(x), at
    if piece then x, at = x.inputs[1], function(i) return view.at(piece, before(i)) end
    elseif x.kind ~= "map" then return nil
    elseif is_cast(x.expression) then x = x.inputs[1]
    else
      x, scales[#scales + 1] = scaled(g, x, function(y) return g:view(y, shape, at) end, axis)
      if not x then return nil end
    end
  end
  return g:view(x, shape, at), scales
end

-- The first scale along the summed axis, for each result.
local function spread(g, x, by, side)
  local rank = #x.shape
  return g:view(by, x.shape, function(i) return index.with(i, rank - 2 + 3 - side, index.const(0)) end)
end

--- What takes the place of product x; nil where it stays. `serves(sum)`: whether tensor cores make a product of numbers of 8 bits.
function M.apply(g, x, serves)
  if x.kind ~= "product" or not x.dtype:find "^b?float[13]" or is_eight(x.inputs[1]) then return nil end
  local rank = #x.shape
  local a, of_a = peeled(g, x.inputs[1], rank)
  local b, of_b = peeled(g, x.inputs[2], rank - 1)
  if not (a and b) then return nil end
  local sum = g:node { kind = "product", own = true, inputs = { a, b }, shape = x.shape, dtype = "float32", eight = x.eight }
  if not serves(sum) then return nil end
  local line, inputs = "A", { sum }
  for side, list in ipairs { of_a, of_b } do
    for _, scale in ipairs(list) do
      inputs[#inputs + 1] = spread(g, x, scale.by, side)
      line = ("%s %s %s"):format(line, scale.sign, string.char(64 + #inputs))
    end
  end
  if x.inputs[3] then inputs[#inputs + 1], line = x.inputs[3], ("%s + %s"):format(line, string.char(65 + #inputs)) end
  return g:map(line, x.dtype, inputs, "float32")
end

return M
