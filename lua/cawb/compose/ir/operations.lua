-- operations: the operations that a tree is made of. A row says how one is written and what it costs.
-- `sign` and `level` are those of C: a higher level binds closer. An operation without a sign is a function, and `c` is its name in C.

local functions = require "cawb.compose.ir.functions"

local M = {}

M.SELECT, M.UNARY, M.ATOM = 0, 11, 12           -- levels of a choice, of a sign ahead, and of what needs no brackets

local function binary(sign, level, class) return { sign = sign, level = level, class = class, count = 2 } end

local function unary(sign, class) return { sign = sign, level = M.UNARY, class = class, count = 1 } end

local table_ = {
  multiply = binary("*", 10, "sum"), divide = binary("/", 10, "sum"), remainder = binary("%", 10, "sum"),
  add = binary("+", 9, "sum"), subtract = binary("-", 9, "sum"),
  shift_left = binary("<<", 8, "bits"), shift_right = binary(">>", 8, "bits"),
  less = binary("<", 7, "compare"), less_equal = binary("<=", 7, "compare"),
  greater = binary(">", 7, "compare"), greater_equal = binary(">=", 7, "compare"),
  equal = binary("==", 6, "compare"), not_equal = binary("!=", 6, "compare"),
  bit_and = binary("&", 5, "bits"), bit_xor = binary("^", 4, "bits"), bit_or = binary("|", 3, "bits"),
  ["and"] = binary("&&", 2, "logic"), ["or"] = binary("||", 1, "logic"),
  negate = unary("-", "sum"), ["not"] = unary("!", "logic"), bit_not = unary("~", "bits"),
  select = { class = "select", count = 3 }, convert = { class = "convert", count = 1 },
  maximum = { class = "extreme", count = 2, compare = "greater" }, minimum = { class = "extreme", count = 2, compare = "less" },
}

-- Functions of C's library, by their names in float64, and the instructions that each costs beside those of a sum or product.
local library = {
  [0] = "abs floor ceil rint trunc copysign nextafter",
  [12] = [[exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc erfinv erfcx lgamma
           normcdfinv cyl_bessel_i0 cyl_bessel_i1 j0 j1 y0 y1 pow atan2 fmod hypot]],
}
local of_two = { copysign = true, nextafter = true, pow = true, atan2 = true, fmod = true, hypot = true }

for cost, names in pairs(library) do
  for name in names:gmatch "%S+" do
    table_[name] = { class = "function", c = name == "abs" and "fabs" or name, cost = cost, count = of_two[name] and 2 or 1 }
  end
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
