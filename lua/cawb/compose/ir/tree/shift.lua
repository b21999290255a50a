-- shift: the shift of a map's value, given the shifts of its operands. A shift is { m = number, key = the constant that it is a multiple
-- of }; nil is no shift. The shift is unknown if an operand's shift reaches anything but sums, differences and multiples. And a tree
-- without an operand that is added to all the rest.

local lists = require "cawb.base.lists"
local tree = require "cawb.compose.ir.tree"

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

-- ---- a tree without a shift

local function is(t, k) return t.op == "argument" and t.k == k end

local function count(t, k)
  return (is(t, k) and 1 or 0) + lists.sum(t, function(x) return count(x, k) end)
end

local rest

-- A sum with the rest of its n-th term in place of the term.
local function within(t, n, k)
  local left = rest(t[n], k)
  if not left then return nil end
  local both = { t[1], t[2] }
  both[n] = left
  return tree.node(t.op, both)
end

-- An exact sum is rounded for a reason, and stays.
function rest(t, k)
  if t.op ~= "add" and t.op ~= "subtract" or t.exact then return nil end
  if is(t[2], k) then return t[1] end
  if is(t[1], k) and t.op == "add" then return t[2] end
  return within(t, 1, k) or within(t, 2, k)
end

--- The tree without operand k, if the operand is added to all the rest or taken from it, and stands nowhere else; else nil. Later
--- operands move up.
function M.without(t, k)
  local left = count(t, k) == 1 and rest(t, k)
  return left and tree.changed(left, function(x) return x.op == "argument" and x.k > k and tree.argument(x.k - 1, x.type) or nil end) or nil
end

return M
