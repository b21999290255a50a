-- operations: the operations that a tree is made of. A row says how one is written and what it costs.
-- `sign` and `level` are those of C: a higher level binds closer. An operation without a sign is a function, and `c` is its name in C.

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

-- Functions that CUDA has not, as C that is called where it stands: of one float64, or of `count` whole numbers (class "bits").
local functions = {}

-- Up from x to 10 by the recurrence, from there the asymptotic series; below 0 by reflection.
functions.digamma = { cost = 104, body = "[](double x) { double sum = 0; if (x == 0) return copysign((double)INFINITY, -x); "
  .. "if (x < 0) { if (x == trunc(x)) return (double)NAN; sum = -3.14159265358979324 / tan(3.14159265358979324 * (x - trunc(x))); x = 1 - x; } "
  .. "for (; x < 10; x += 1) sum -= 1 / x; const double z = 1 / (x * x); "
  .. "return sum + log(x) - 0.5 / x - z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * 691.0 / 32760))))); }" }

-- Its slope, likewise: six steps up and three terms, as PyTorch's own has it, which is the reference in float64.
functions.trigamma = { cost = 76, body = "[](double x) { double sum = 0, sign = 1; if (x < 0.5) { const double s = sin(3.14159265358979324 * x); "
  .. "sum = -9.86960440108935862 / (s * s), sign = -1, x = 1 - x; } for (int k = 0; k < 6; k++, x += 1) sum += 1 / (x * x); "
  .. "const double z = 1 / (x * x); return sign * (sum + (1 + 0.5 / x + z * (1.0 / 6 - z * (1.0 / 30 - z / 42))) / x); }" }

-- exp(-|x|) I(x), of order 0 and 1: far out, where I itself is infinite, by its series.
local function scaled_bessel(order, series, sign)
  return { cost = 52, body = ("[](double x) { const double a = fabs(x), z = 1 / a; return %s(a < 700 ? exp(-a) * cyl_bessel_i%d(a) "
    .. ": rsqrt(6.28318530717958648 * a) * (%s)); }"):format(sign, order, series) }
end

functions.bessel_i0e = scaled_bessel(0, "1 + z * (1.0 / 8 + z * (9.0 / 128 + z * (225.0 / 3072 + z * 11025.0 / 98304)))", "")
functions.bessel_i1e = scaled_bessel(1, "1 - z * (3.0 / 8 + z * (15.0 / 128 + z * (315.0 / 3072 + z * 14175.0 / 98304)))", "(x < 0 ? -1 : 1) * ")

functions.gcd = { cost = 200, count = 2, class = "bits",
  body = "[](long long a, long long b) { while (b) { const long long c = a % b; a = b, b = c; } return a < 0 ? -a : a; }" }

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
