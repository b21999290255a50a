-- operations: the operations that a tree is made of. A row says how one is written and what it costs; `evaluate` is its value as numbers.
-- `sign` and `level` are those of C: a higher level binds closer. An operation without a sign is a function, and `c` is its name in C.

local functions = require "cawb.compose.ir.functions"

local M = {}

M.SELECT, M.UNARY, M.ATOM = 0, 11, 12           -- levels of a choice, of a sign ahead, and of what needs no brackets

local function truth(v) return v and v ~= 0 and v or false end

local function binary(sign, level, class, evaluate)
  return { sign = sign, level = level, class = class, count = 2, evaluate = evaluate }
end

local function compare(sign, level, evaluate) return binary(sign, level, "compare", evaluate) end

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

local table_ = {
  multiply = binary("*", 10, "sum", function(a, b) return a * b end),
  divide = binary("/", 10, "sum", quotient),
  remainder = binary("%", 10, "sum", math.fmod),
  add = binary("+", 9, "sum", function(a, b) return a + b end),
  subtract = binary("-", 9, "sum", function(a, b) return a - b end),
  shift_left = binary("<<", 8, "bits", function(a, b) return a << b end),
  shift_right = binary(">>", 8, "bits", function(a, b) return a // (1 << b) end),
  less = compare("<", 7, function(a, b) return a < b end),
  less_equal = compare("<=", 7, function(a, b) return a <= b end),
  greater = compare(">", 7, function(a, b) return a > b end),
  greater_equal = compare(">=", 7, function(a, b) return a >= b end),
  equal = compare("==", 6, function(a, b) return a == b end),
  not_equal = compare("!=", 6, function(a, b) return a ~= b end),
  bit_and = binary("&", 5, "bits", function(a, b) return a & b end),
  bit_xor = binary("^", 4, "bits", function(a, b) return a ~ b end),
  bit_or = binary("|", 3, "bits", function(a, b) return a | b end),
  ["and"] = binary("&&", 2, "logic", function(a, b) return truth(a) and truth(b) and true or false end),
  ["or"] = binary("||", 1, "logic", function(a, b) return (truth(a) or truth(b)) and true or false end),
  negate = { sign = "-", level = M.UNARY, class = "sum", count = 1, evaluate = function(a) return -a end },
  ["not"] = { sign = "!", level = M.UNARY, class = "logic", count = 1, evaluate = function(a) return not truth(a) end },
  bit_not = { sign = "~", level = M.UNARY, class = "bits", count = 1, evaluate = function(a) return ~a end },
  select = { class = "select", count = 3, evaluate = function(c, a, b) if truth(c) then return a end return b end },
  maximum = { class = "extreme", count = 2, compare = "greater", evaluate = extreme(function(a, b) return a > b end) },
  minimum = { class = "extreme", count = 2, compare = "less", evaluate = extreme(function(a, b) return a < b end) },
  convert = { class = "convert", count = 1 },
}

local function even(a)
  local low = math.floor(a)
  local apart = a - low
  if apart ~= 0.5 then return apart < 0.5 and low + 0.0 or low + 1.0 end
  return low % 2 == 0 and low + 0.0 or low + 1.0
end

local function whole(f) return function(a) return (a ~= a or a - a ~= 0) and a or f(a) + 0.0 end end

-- Functions of C's library, by their names in float64. Lua has the value of some; `COSTLY` have many instructions.
local values = {
  abs = math.abs, exp = math.exp, exp2 = function(a) return 2.0 ^ a end, expm1 = function(a) return math.exp(a) - 1 end, log = math.log,
  log2 = function(a) return math.log(a, 2) end, log10 = function(a) return math.log(a, 10) end, log1p = function(a) return math.log(1 + a) end,
  sqrt = math.sqrt, sin = math.sin, cos = math.cos, tan = math.tan, asin = math.asin, acos = math.acos, atan = math.atan,
  sinh = function(a) return (math.exp(a) - math.exp(-a)) / 2 end, cosh = function(a) return (math.exp(a) + math.exp(-a)) / 2 end,
  tanh = function(a) return a > 20 and 1.0 or a < -20 and -1.0 or (math.exp(2 * a) - 1) / (math.exp(2 * a) + 1) end,
  floor = whole(math.floor), ceil = whole(math.ceil), rint = whole(even),
  trunc = whole(function(a) return a < 0 and math.ceil(a) or math.floor(a) end),
  pow = function(a, b) return a ^ b end, atan2 = math.atan, fmod = math.fmod, hypot = function(a, b) return math.sqrt(a * a + b * b) end,
}

local COSTLY = {}
for name in ([[exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc
               pow sqrt fmod atan2 hypot erfinv lgamma erfcx]]):gmatch "%w+" do COSTLY[name] = true end

local two = { pow = true, atan2 = true, fmod = true, copysign = true, hypot = true, nextafter = true }

for name in ([[abs exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc erfinv
               erfcx lgamma floor ceil rint trunc pow atan2 fmod copysign hypot nextafter cyl_bessel_i0 cyl_bessel_i1 j0 j1
               normcdfinv]]):gmatch "[%w_]+" do
  table_[name] = { class = "function", c = name == "abs" and "fabs" or name, count = two[name] and 2 or 1, cost = COSTLY[name] and 12 or 0,
                   evaluate = values[name] }
end

for name, one in pairs(functions) do table_[name] = { class = "function", body = one.body, cost = one.cost, count = 1 } end

--- The row of an operation; nil where there is none of this name.
function M.row(name) return table_[name] end

local by_sign = { {}, {} }
for name, row in pairs(table_) do
  if row.sign then by_sign[row.count][row.sign] = name end
end

--- The operation of a sign with one or two operands.
function M.of_sign(sign, count) return by_sign[count][sign] end

return M
