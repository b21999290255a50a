-- converted: a float32 product of converted 16-bit numbers is one of the numbers as they are: float32 holds their products, so tensor cores
-- have one to make where they have several for numbers of float32, and nobody writes the numbers in float32. Behind the rules, as quantised.
-- Tensor cores cut their sums off, so a long sum stays a product of float32 unless it is rounded to 16 bits.

local lists = require "cawb.base.lists"
local match = require "cawb.compose.ir.tree.match"
local view = require "cawb.compose.ir.view"

local M = { says = "converted factors of 16 bits are read as they are" }

local MOST = 256         -- terms of a sum that float32 shows: 2e-7 is off of those, 2e-6 of 8192 positive ones
local sixteen = { float16 = true, bfloat16 = true }

-- The 16-bit numbers that a factor shows; nil where they are none.
local function unconverted(g, x)
  local at, shape = function(i) return i end, x.shape
  while not sixteen[x.dtype] do
    local piece, before = view.plain(x), at
    if not piece and not (x.kind == "map" and x.dtype == "float32" and match.is(x.expression, "A")) then return nil end
    x = x.inputs[1]
    if piece then at = function(i) return view.at(piece, before(i)) end end
  end
  return g:view(x, shape, at)
end

-- Whether nobody reads a node's numbers but to round them to 16 bits.
local function is_rounded(g, x)
  if lists.any(g.outputs, function(y) return y == x end) then return false end
  return lists.all(x.users, function(user)
    return (user.kind == "map" or user.kind == "view") and (sixteen[user.dtype] or is_rounded(g, user))
  end)
end

--- What takes the place of product x; nil where it stays. A library's takes numbers of the result's type.
function M.apply(g, x)
  if x.kind ~= "product" or x.dtype ~= "float32" or not x.own or x.inputs[3] then return nil end
  local a, b = unconverted(g, x.inputs[1]), unconverted(g, x.inputs[2])
  if not (a and b) or a.dtype ~= b.dtype or x.inputs[1].dtype ~= "float32" then return nil end
  if a.shape[#a.shape] > MOST and not is_rounded(g, x) then return nil end
  return g:node { kind = "product", own = true, inputs = { a, b }, shape = x.shape, dtype = "float32" }
end

return M
