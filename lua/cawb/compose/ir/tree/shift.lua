-- shift: the shift of a map's value, given the shifts of its operands. A shift is { m = number, key = the constant that it is a multiple
-- of }; nil is no shift. The shift is unknown if an operand's shift reaches anything but sums, differences and multiples.

local lists = require "cawb.base.lists"

local M = {}

local UNKNOWN = { unknown = true }

local function sum(a, b, sign)
  if a == UNKNOWN or b == UNKNOWN then return UNKNOWN end
  if not b then return a end
  if not a then return { m = sign * b.m, key = b.key, of = b.of } end
  if a.key ~= b.key then return UNKNOWN end
  local m = a.m + sign * b.m
  if m == 0 then return nil end
  return { m = m, key = a.key, of = a.of }
end

-- A shift times a number or a constant.
local function product(a, b)
  if a.shift == UNKNOWN or b.shift == UNKNOWN or a.shift and b.shift then return UNKNOWN end
  if not a.shift and not b.shift then return nil end
  local shift, other = a.shift or b.shift, a.shift and b or a
  if other.number then return { m = shift.m * other.number, key = shift.key, of = shift.of } end
  return other.times and other.times(shift) or UNKNOWN
end

local function quotient(a, b)
  if not a.shift and not b.shift then return nil end
  if a.shift == UNKNOWN or b.shift or not b.number or b.number == 0 then return UNKNOWN end
  return { m = a.shift.m / b.number, key = a.shift.key, of = a.shift.of }
end

-- ---- by operation, of operands { shift, number, times }

local ways = { multiply = product, divide = quotient }

function ways.add(a, b) return sum(a.shift, b.shift, 1) end
function ways.subtract(a, b) return sum(a.shift, b.shift, -1) end
function ways.negate(a) return sum(nil, a.shift, -1) end

local function of(t, operands)
  if t.op == "argument" then return operands[t.k] or {} end
  if t.op == "constant" then return { number = type(t.value) == "number" and t.value or nil } end
  local list = lists.map(t, function(x) return of(x, operands) end)
  local way = not t.approximate and ways[t.op]
  if way then return { shift = way(list[1], list[2]) } end
  return { shift = lists.any(list, function(one) return one.shift end) and UNKNOWN or nil }
end

--- The shift of a tree's value, nil for none, and whether it is known. `operands`, by their numbers:
--- { shift = the operand's own, number = its value if it is a number, times = function(shift) or nil, the shift times the operand }.
function M.of(t, operands)
  local shift = of(t, operands).shift
  if shift == UNKNOWN then return nil, false end
  return shift, true
end

return M
