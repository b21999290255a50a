-- expressions: pointwise operators by their functional name, as lines of ir/tree/text.lua. A, B, C, D are the operands, tensors
-- and numbers in the order of the schema. NaN, infinities and ties are as PyTorch has them: a comparison
-- that is false for NaN keeps A. A table is a line whose {names} are numbers: the operator's arguments, or these defaults;
-- {-name} is the number with the other sign.

local text = require "cawb.compose.ir.tree.text"
local types = require "cawb.torch.types"

local M = {}

local number = text.number

-- The second operand of a sum: times alpha.
local function scaled(args, dtype, name)
  local alpha = args.alpha
  return (alpha == nil or alpha == 1) and name or ("%s * %s"):format(name, number(alpha, dtype))
end

-- Powers that PyTorch computes without pow.
local powers = { [0] = "1.0", [0.5] = "sqrt(A)", [1] = "A", [2] = "A * A", [3] = "A * A * A", [-0.5] = "1.0 / sqrt(A)",
                 [-1] = "1.0 / A", [-2] = "1.0 / (A * A)" }

-- As PyTorch's: the upper bound wins over a lower one beyond it.
local function clamp(lo, hi, dtype)
  if lo ~= nil and hi ~= nil and lo > hi then lo = hi end
  local most = hi ~= nil and ("A > %s ? %s : "):format(number(hi, dtype), number(hi, dtype)) or ""
  local least = lo ~= nil and ("A < %s ? %s : "):format(number(lo, dtype), number(lo, dtype)) or ""
  return ("(%s%sA)"):format(least, most)
end

-- The largest finite number of a type.
local function most(dtype) return dtype == "float64" and 1.7976931348623157e308 or 3.4028234663852886e38 end

-- tanh(log(1 + e)) is e (e + 2) / (e (e + 2) + 2)
local grown = ("(%s * (%s + 2.0))"):gsub("%%s", "exp(A > 20.0 ? 20.0 : A)")

-- Divided by six as PyTorch's own kernels do it. Neither that nor an approximate quotient has the branch of a division, in front of which
-- the elements of a thread would wait for each other.
local hard = "(A < -3.0 ? 0.0 : A > 3.0 ? 6.0 : A + 3.0) * 0.16666666666666666"

-- What is left of a division has the divisor's sign: where it has not, the quotient is one less.
local unlike = "fmod(A, B) != 0.0 && (B < 0.0) != (fmod(A, B) < 0.0)"
local floored = "(B == 0.0 ? A / B : rint((A - fmod(A, B)) / B - (" .. unlike .. " ? 1.0 : 0.0)))"

local whole_quotient = "(A / B - (A % B != 0 && (A < 0) != (B < 0)))"

-- For float types, and where `whole` has none, for the others too.
local float = {
  abs = "abs(A)", exp = "exp(A)", exp2 = "exp2(A)", expm1 = "expm1(A)", log = "log(A)",
  log2 = "log2(A)", log10 = "log10(A)", log1p = "log1p(A)", sqrt = "sqrt(A)", rsqrt = "1.0 / sqrt(A)",
  reciprocal = "1.0 / A", sin = "sin(A)", cos = "cos(A)", tan = "tan(A)", asin = "asin(A)", acos = "acos(A)",
  atan = "atan(A)", sinh = "sinh(A)", cosh = "cosh(A)", tanh = "tanh(A)", asinh = "asinh(A)",
  acosh = "acosh(A)", atanh = "atanh(A)", erf = "erf(A)", erfc = "erfc(A)", floor = "floor(A)",
  ceil = "ceil(A)", trunc = "trunc(A)", frac = "A - trunc(A)",
  sigmoid = "approximate(1.0 / (1.0 + exp(-A)))", silu = "approximate(A / (1.0 + exp(-A)))",
  log_sigmoid_forward = "(A < 0.0 ? A : 0.0) - log1p(exp(-abs(A)))",
  mish = ("A * approximate(%s / (%s + 2.0))"):format(grown, grown),
  hardswish = "A * " .. hard, hardsigmoid = hard,
  angle = "(A != A ? A : A < 0.0 ? 3.141592653589793 : 0.0)",
  sign = "(A > 0.0 ? 1.0 : A < 0.0 ? -1.0 : 0.0)",
  gelu = function(args)
    if args.approximate == "tanh" then
      return "0.5 * A * (1.0 + tanh(0.7978845608028654 * (A + 0.044715 * A * A * A)))"
    end
    return "0.5 * A * (1.0 + erf(A * 0.7071067811865476))"
  end,
  round = function(args, dtype)
    local decimals = args.decimals or 0
    local by = number(10.0 ^ math.abs(decimals), dtype)
    if decimals == 0 then return "rint(A)" end
    return decimals > 0 and ("rint(A * %s) / %s"):format(by, by) or ("rint(A / %s) * %s"):format(by, by)
  end,
  nextafter = function(_, dtype) return (dtype == "float32" or dtype == "float64") and "nextafter(A, B)" or nil end,
  ldexp = "A * exp2(B)",
  leaky_relu = { "(A > 0.0 ? A : A * {negative_slope})" },
  elu = { "(A > 0.0 ? A * {scale} : expm1(A * {input_scale}) * ({alpha} * {scale}))", scale = 1, input_scale = 1, alpha = 1 },     -- SELU too
  celu = { "(A > 0.0 ? A : {alpha} * expm1(A / {alpha}))", alpha = 1 },
  softplus = { "(A * {beta} > {threshold} ? A : log1p(exp(A * {beta})) / {beta})", beta = 1, threshold = 20 },
  hardshrink = { "(A >= {-lambd} && A <= {lambd} ? 0.0 : A)", lambd = 0.5 },
  softshrink = { "(A > {lambd} ? A - {lambd} : A < {-lambd} ? A - {-lambd} : A != A ? A : 0.0)", lambd = 0.5 },
  logit = function(args, dtype)
    if not args.eps then return "log(A / (1.0 - A))" end
    local x = clamp(args.eps, 1 - args.eps, dtype)
    return ("log(%s / (1.0 - %s))"):format(x, x)
  end,
  pow = function(args, dtype)
    if args.self then return ("pow(%s, A)"):format(number(args.self, dtype)) end
    return args.exponent == nil and "pow(A, B)" or powers[args.exponent]
      or ("pow(A, %s)"):format(number(args.exponent, dtype))
  end,
  atan2 = "atan2(A, B)", fmod = "fmod(A, B)",
  remainder = "(" .. unlike .. " ? fmod(A, B) + B : fmod(A, B))", floor_divide = floored,
  div = function(args)
    local rounds = { floor = floored, trunc = "trunc(A / B)" }
    return rounds[args.rounding_mode] or "A / B"
  end,
  nan_to_num = { "(A != A ? {nan} : A == INFINITY ? {posinf} : A == -INFINITY ? {neginf} : A)", nan = 0, posinf = most,
                 neginf = function(dtype) return -most(dtype) end },
  _prelu_kernel = "(A > 0.0 ? A : B * A)", lerp = function(args, dtype)
    local w = args.weight and number(args.weight, dtype) or "C"
    return ("(abs(%s) < 0.5 ? A + %s * (B - A) : B - (B - A) * (1.0 - %s))"):format(w, w, w)
  end,
  copysign = "copysign(A, B)", hypot = "hypot(A, B)", deg2rad = "A * 0.017453292519943295", rad2deg = "A * 57.29577951308232",
  logaddexp = "(A == B ? A + 0.6931471805599453 : (A != A || A > B ? A : B) + log1p(exp(-abs(A - B))))",
  logaddexp2 = "(A == B ? A + 1.0 : (A != A || A > B ? A : B) + log1p(exp2(-abs(A - B))) * 1.4426950408889634)",
  sinc = "(A == 0.0 ? 1.0 : sin(3.141592653589793 * A) / (3.141592653589793 * A))",
  heaviside = "(A == 0.0 ? B : A > 0.0 ? 1.0 : 0.0)", erfinv = "erfinv(A)", lgamma = "lgamma(A)", special_erfcx = "erfcx(A)",
  special_ndtr = "0.5 * erfc(A * -0.7071067811865476)", special_xlog1py = "(B != B ? B : A == 0.0 ? 0.0 : A * log1p(B))",
  special_entr = "(A != A ? A : A > 0.0 ? -A * log(A) : A == 0.0 ? 0.0 : -INFINITY)",
  xlogy = "(B != B ? B : A == 0.0 ? 0.0 : A * log(B))",
  soft_margin_loss = "log1p(exp(-B * A))", mse_loss = "(A - B) * (A - B)",
  smooth_l1_loss = { "(abs(A - B) < {beta} ? 0.5 * (A - B) * (A - B) / {beta} : abs(A - B) - 0.5 * {beta})", beta = 1 },
  huber_loss = { "(abs(A - B) <= {delta} ? 0.5 * (A - B) * (A - B) : {delta} * (abs(A - B) - 0.5 * {delta}))", delta = 1 },
  binary_cross_entropy_with_logits = "(1.0 - B) * A - ((C - 1.0) * B + 1.0) * ((A < 0.0 ? A : 0.0) - log1p(exp(-abs(A))))",
  binary_cross_entropy = "(B - 1.0) * maximum_number(log1p(-A), -100.0) - B * maximum_number(log(A), -100.0)",
}

-- For every type.
local any = {
  neg = "-A", relu = "(A < 0 ? 0 : A)", square = "A * A",
  add = function(args, dtype) return "A + " .. scaled(args, dtype, "B") end,
  sub = function(args, dtype) return "A - " .. scaled(args, dtype, "B") end,
  rsub = function(args, dtype) return "B - " .. scaled(args, dtype, "A") end,
  mul = "A * B",
  hardtanh = function(args, dtype) return clamp(args.min_val or -1, args.max_val or 1, dtype) end,
  clamp = function(args, dtype) return clamp(args.min, args.max, dtype) end,
  clamp_min = function(args, dtype) return clamp(args.min, nil, dtype) end,
  clamp_max = function(args, dtype) return clamp(nil, args.max, dtype) end,
  threshold = { "(A <= {threshold} ? {value} : A)" },
  maximum = "maximum(A, B)", minimum = "minimum(A, B)",
  fmax = "maximum_number(A, B)", fmin = "minimum_number(A, B)",
  bitwise_and = "A & B", bitwise_or = "A | B", bitwise_xor = "A ^ B",
  where = "(A ? B : C)", masked_fill = "(B ? C : A)",
  addcmul = { "A + {value} * B * C", value = 1 }, addcdiv = { "A + {value} * (B / C)", value = 1 },
  sgn = "((A > 0) - (A < 0))",
}

-- For every type, with a truth as the result: computed in the type of the operands.
local truth = {
  eq = "A == B", ne = "A != B", lt = "A < B", le = "A <= B", gt = "A > B", ge = "A >= B",
  logical_and = "A != 0 && B != 0", logical_or = "A != 0 || B != 0", logical_xor = "(A != 0) != (B != 0)", logical_not = "A == 0",
  isnan = "A != A", isinf = "abs(A) == INFINITY", isfinite = "abs(A) < INFINITY", signbit = "copysign(1.0, A) < 0.0",
}

-- For whole numbers, where it is something else.
local whole = {
  abs = "(A < 0 ? -A : A)", sign = "((A > 0) - (A < 0))", floor = "A", ceil = "A", round = "A", trunc = "A",
  nan_to_num = "A", isnan = "false", isinf = "false", isfinite = "true", signbit = "A < 0",
  bitwise_not = function(_, dtype) return dtype == "bool" and "!A" or "~A" end,
  remainder = "(A % B + (A % B != 0 && (A % B < 0) != (B < 0) ? B : 0))", fmod = "A % B",
  floor_divide = whole_quotient, div = function(args) return args.rounding_mode == "floor" and whole_quotient or "A / B" end,
  pow = function(args) return args.exponent == 2 and "A * A" or args.exponent == 3 and "A * A * A" or nil end,
  gcd = "gcd(A, B)", bitwise_left_shift = "(A << B)", bitwise_right_shift = "(A >> B)",
}

-- A line with the numbers of an operator's arguments.
local function filled(line, args, dtype)
  return (line[1]:gsub("{(%-?)([%w_]+)}", function(sign, name)
    local value = args[name]
    if value == nil then value = line[name] end
    if type(value) == "function" then value = value(dtype) end
    return number(sign == "-" and -value or value, dtype)
  end))
end

--- The line (ir/tree/text.lua) of an operator that is computed in `dtype`, from its arguments; nil if there is none.
function M.of(name, args, dtype)
  local template = not types.is_float(dtype) and whole[name] or any[name] or truth[name] or float[name]
  if type(template) == "table" then return filled(template, args, dtype) end
  if type(template) == "function" then return template(args, dtype) end
  return template
end

function M.is_truth(name) return truth[name] ~= nil end

function M.knows(name) return (any[name] or truth[name] or float[name] or whole[name]) ~= nil end

function M.names()
  local list = {}
  for _, t in ipairs { any, truth, float, whole } do
    for name in pairs(t) do list[#list + 1] = name end
  end
  return list
end

return M
