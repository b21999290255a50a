-- evaluate: the value of a tree, as numbers of Lua: real ones are float64, whole ones have 64 bits.
--   local evaluate = dofile "tests/support/evaluate.lua"

local operations = require "cawb.compose.ir.operations"
local types = require "cawb.torch.types"

local M = {}

-- ---- the value of an operation, of its operands

local function truth(v) return v and v ~= 0 and v or false end

-- Whole numbers are divided as C does it: towards zero.
local function quotient(a, b)
  if math.type(a) ~= "integer" or math.type(b) ~= "integer" then return a / b end
  local q = a // b
  return q < 0 and q * b ~= a and q + 1 or q
end

-- The better of two; NaN is the result, or the other operand is.
local function extreme(better)
  return function(a, b, nan)
    if a ~= a or b ~= b then return ((a ~= a) == (nan == "wins")) and a or b end
    return better(a, b) and a or b
  end
end

local function even(a)
  local low = math.floor(a)
  local apart = a - low
  if apart ~= 0.5 then return apart < 0.5 and low + 0.0 or low + 1.0 end
  return low % 2 == 0 and low + 0.0 or low + 1.0
end

local function whole(f) return function(a) return (a ~= a or a - a ~= 0) and a or f(a) + 0.0 end end

local ways = {
  multiply = function(a, b) return a * b end, divide = quotient, remainder = math.fmod,
  add = function(a, b) return a + b end, subtract = function(a, b) return a - b end,
  shift_left = function(a, b) return a << b end, shift_right = function(a, b) return a // (1 << b) end,
  less = function(a, b) return a < b end, less_equal = function(a, b) return a <= b end,
  greater = function(a, b) return a > b end, greater_equal = function(a, b) return a >= b end,
  equal = function(a, b) return a == b end, not_equal = function(a, b) return a ~= b end,
  bit_and = function(a, b) return a & b end, bit_xor = function(a, b) return a ~ b end, bit_or = function(a, b) return a | b end,
  ["and"] = function(a, b) return truth(a) and truth(b) and true or false end,
  ["or"] = function(a, b) return (truth(a) or truth(b)) and true or false end,
  negate = function(a) return -a end, ["not"] = function(a) return not truth(a) end, bit_not = function(a) return ~a end,
  select = function(c, a, b) if truth(c) then return a end return b end,
  maximum = extreme(function(a, b) return a > b end), minimum = extreme(function(a, b) return a < b end),
  abs = math.abs, floor = whole(math.floor), ceil = whole(math.ceil), rint = whole(even),
  trunc = whole(function(a) return a < 0 and math.ceil(a) or math.floor(a) end),
  exp = math.exp, exp2 = function(a) return 2.0 ^ a end, expm1 = function(a) return math.exp(a) - 1 end,
  log = math.log, log2 = function(a) return math.log(a, 2) end, log10 = function(a) return math.log(a, 10) end,
  log1p = function(a) return math.log(1 + a) end, sqrt = math.sqrt,
  sin = math.sin, cos = math.cos, tan = math.tan, asin = math.asin, acos = math.acos, atan = math.atan,
  sinh = function(a) return (math.exp(a) - math.exp(-a)) / 2 end, cosh = function(a) return (math.exp(a) + math.exp(-a)) / 2 end,
  tanh = function(a) return a > 20 and 1.0 or a < -20 and -1.0 or (math.exp(2 * a) - 1) / (math.exp(2 * a) + 1) end,
  pow = function(a, b) return a ^ b end, atan2 = math.atan, fmod = math.fmod,
  hypot = function(a, b) return math.sqrt(a * a + b * b) end,
}

local function converted(value, dtype)
  if dtype == "bool" then return value ~= 0 and value ~= false end
  if value == true then value = 1 elseif value == false then value = 0 end
  if types.is_float(dtype) then return value + 0.0 end
  return math.tointeger(value) or math.tointeger(value < 0 and math.ceil(value) or math.floor(value))
end

-- A truth value counts as 1 or 0 among numbers.
local function number(value)
  if value == true then return 1 end
  return value or 0
end

--- The value, with `values` in place of the operands. A function that Lua has not raises.
function M.of(t, values)
  if t.op == "argument" then return values[t.k] end
  if t.op == "constant" then return t.value end
  local row, list = operations.row(t.op), {}
  for k, x in ipairs(t) do list[k] = M.of(x, values) end
  if t.op == "convert" then return converted(list[1], t.type) end
  if not ways[t.op] then error(("Lua has no '%s': compare on a device"):format(t.op), 2) end
  if row.class ~= "logic" and row.class ~= "select" then
    local real = types.is_float(t.type)
    for k, value in ipairs(list) do list[k] = number(value) + (real and 0.0 or 0) end
  end
  list[#list + 1] = t.nan
  return ways[t.op](table.unpack(list))
end

return M
