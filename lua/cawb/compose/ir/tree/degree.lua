-- degree: the degree of a tree, as a polynomial in some of its operands.

local M = {}

-- ---- by operation, from the degrees of its operands; nil for no polynomial

local larger = function(a, b) return math.max(a, b) end
local ways = { negate = function(a) return a end, add = larger, subtract = larger, multiply = function(a, b) return a + b end }

function ways.divide(a, b) return b == 0 and a or nil end

--- The degree in the operands whose numbers are in the set `varies`; nil if the tree is no polynomial in them.
function M.of(t, varies)
  if t.op == "argument" then return varies[t.k] and 1 or 0 end
  local degrees, constant = {}, true
  for k, x in ipairs(t) do
    degrees[k] = M.of(x, varies)
    if not degrees[k] then return nil end
    constant = constant and degrees[k] == 0
  end
  if constant then return 0 end
  local way = not t.approximate and ways[t.op]
  return way and way(degrees[1], degrees[2])
end

--- Whether the degree is one at most. Then the mean of a tree's values is its value at the operands' means.
function M.is_linear(t, varies)
  local degree = M.of(t, varies)
  return degree ~= nil and degree <= 1
end

return M
