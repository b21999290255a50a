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

local function sinh(a) return (math.exp(a) - math.exp(-a)) / 2 end
local function cosh(a) return (math.exp(a) + math.exp(-a)) / 2 end
local function tanh(a) return a > 20 and 1.0 or a < -20 and -1.0 or (math.exp(2 * a) - 1) / (math.exp(2 * a) + 1) end

-- Functions of C's library, by their names in float64: { cost, the value where Lua has it, operands where they are two }. The cost counts
-- instructions beside those of a sum or product.
local library = {
  abs = { 0, math.abs }, floor = { 0, whole(math.floor) }, ceil = { 0, whole(math.ceil) }, rint = { 0, whole(even) },
  trunc = { 0, whole(function(a) return a < 0 and math.ceil(a) or math.floor(a) end) },
  copysign = { 0, nil, 2 }, nextafter = { 0, nil, 2 },
  exp = { 12, math.exp }, exp2 = { 12, function(a) return 2.0 ^ a end }, expm1 = { 12, function(a) return math.exp(a) - 1 end },
  log = { 12, math.log }, log2 = { 12, function(a) return math.log(a, 2) end }, log10 = { 12, function(a) return math.log(a, 10) end },
  log1p = { 12, function(a) return math.log(1 + a) end }, sqrt = { 12, math.sqrt },
  sin = { 12, math.sin }, cos = { 12, math.cos }, tan = { 12, math.tan }, asin = { 12, math.asin }, acos = { 12, math.acos },
  atan = { 12, math.atan }, sinh = { 12, sinh }, cosh = { 12, cosh }, tanh = { 12, tanh }, asinh = { 12 }, acosh = { 12 }, atanh = { 12 },
  erf = { 12 }, erfc = { 12 }, erfinv = { 12 }, erfcx = { 12 }, lgamma = { 12 }, normcdfinv = { 12 },
  cyl_bessel_i0 = { 12 }, cyl_bessel_i1 = { 12 }, j0 = { 12 }, j1 = { 12 }, y0 = { 12 }, y1 = { 12 },
  pow = { 12, function(a, b) return a ^ b end, 2 }, atan2 = { 12, math.atan, 2 }, fmod = { 12, math.fmod, 2 },
  hypot = { 12, function(a, b) return math.sqrt(a * a + b * b) end, 2 },
}

for name, row in pairs(library) do
  table_[name] = { class = "function", c = name == "abs" and "fabs" or name, cost = row[1], evaluate = row[2], count = row[3] or 1 }
end

for name, one in pairs(functions) do table_[name] = { class = one.class or "function", body = one.body, cost = one.cost, count = one.count or 1 } end

--- The row of an operation; nil where there is none of this name.
function M.row(name) return table_[name] end

local by_sign = { {}, {} }
for name, row in pairs(table_) do
  if row.sign then by_sign[row.count][row.sign] = name end
end

--- The operation of a sign with one or two operands.
function M.of_sign(sign, count) return by_sign[count][sign] end

return M
