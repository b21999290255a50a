-- expressions: pointwise operators by their functional name, as lines of ir/tree/text.lua. A, B, C, D are the operands, tensors
-- and numbers in the order of the schema. NaN, infinities and ties are as PyTorch has them: a comparison
-- that is false for NaN keeps A.

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

-- Divided by six as PyTorch's own kernels do it. Neither that nor an approximate quotient has the branch of a division, in front of which
-- the elements of a thread would wait for each other.
local hard = "(A < -3.0 ? 0.0 : A > 3.0 ? 6.0 : A + 3.0) * 0.16666666666666666"

-- What is left of a division has the divisor's sign: where it has not, the quotient is one less.
local unlike = "fmod(A, B) != 0.0 && (B < 0.0) != (fmod(A, B) < 0.0)"
local floored = "(B == 0.0 ? A / B : rint((A - fmod(A, B)) / B - (" .. unlike .. " ? 1.0 : 0.0)))"

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
  mish = function(_, dtype)                        -- tanh(log(1 + e)) is e (e + 2) / (e (e + 2) + 2)
    local e = ("exp(A > %s ? %s : A)"):format(number(20, dtype), number(20, dtype))
    local product = ("(%s * (%s + 2.0))"):format(e, e)
    return ("A * approximate(%s / (%s + 2.0))"):format(product, product)
  end,
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
  leaky_relu = function(args, dtype) return ("(A > 0.0 ? A : A * %s)"):format(number(args.negative_slope, dtype)) end,
  elu = function(args, dtype)                      -- SELU arrives here too, with its two scales
    local scale, steep = number(args.scale or 1, dtype), number(args.input_scale or 1, dtype)
    return ("(A > 0.0 ? A * %s : expm1(A * %s) * (%s * %s))"):format(scale, steep, number(args.alpha or 1, dtype), scale)
  end,
  celu = function(args, dtype)
    local alpha = number(args.alpha or 1, dtype)
    return ("(A > 0.0 ? A : %s * expm1(A / %s))"):format(alpha, alpha)
  end,
  softplus = function(args, dtype)
    local beta, most = number(args.beta or 1, dtype), number(args.threshold or 20, dtype)
    return ("(A * %s > %s ? A : log1p(exp(A * %s)) / %s)"):format(beta, most, beta, beta)
  end,
  hardshrink = function(args, dtype)
    local at = number(args.lambd or 0.5, dtype)
    return ("(A >= %s && A <= %s ? 0.0 : A)"):format(number(-(args.lambd or 0.5), dtype), at)
  end,
  softshrink = function(args, dtype)
    local at = number(args.lambd or 0.5, dtype)
    local below = number(-(args.lambd or 0.5), dtype)
    return ("(A > %s ? A - %s : A < %s ? A - %s : A != A ? A : 0.0)"):format(at, at, below, below)
  end,
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
  nan_to_num = function(args, dtype)
    local most = dtype == "float64" and 1.7976931348623157e308 or 3.4028234663852886e38
    return ("(A != A ? %s : A == INFINITY ? %s : A == -INFINITY ? %s : A)"):format(number(args.nan or 0, dtype),
      number(args.posinf or most, dtype), number(args.neginf or -most, dtype))
  end,
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
  smooth_l1_loss = function(args, dtype)
    local beta = number(args.beta or 1, dtype)
    return ("(abs(A - B) < %s ? 0.5 * (A - B) * (A - B) / %s : abs(A - B) - 0.5 * %s)"):format(beta, beta, beta)
  end,
  huber_loss = function(args, dtype)
    local delta = number(args.delta or 1, dtype)
    return ("(abs(A - B) <= %s ? 0.5 * (A - B) * (A - B) : %s * (abs(A - B) - 0.5 * %s))"):format(delta, delta, delta)
  end,
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
  threshold = function(args, dtype)
    return ("(A <= %s ? %s : A)"):format(number(args.threshold, dtype), number(args.value, dtype))
  end,
  maximum = "maximum(A, B)", minimum = "minimum(A, B)",
  fmax = "maximum_number(A, B)", fmin = "minimum_number(A, B)",
  bitwise_and = "A & B", bitwise_or = "A | B", bitwise_xor = "A ^ B",
  where = "(A ? B : C)", masked_fill = "(B ? C : A)",
  addcmul = function(args, dtype) return "A + " .. number(args.value or 1, dtype) .. " * B * C" end,
  addcdiv = function(args, dtype) return "A + " .. number(args.value or 1, dtype) .. " * (B / C)" end,
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
  floor_divide = "(A / B - (A % B != 0 && (A < 0) != (B < 0)))",
  div = function(args)
    return args.rounding_mode == "floor" and "(A / B - (A % B != 0 && (A < 0) != (B < 0)))" or "A / B"
  end,
  pow = function(args) return args.exponent == 2 and "A * A" or args.exponent == 3 and "A * A * A" or nil end,
  gcd = "gcd(A, B)", bitwise_left_shift = "(A << B)", bitwise_right_shift = "(A >> B)",
}

--- The line (ir/tree/text.lua) of an operator that is computed in `dtype`, from its arguments; nil if there is none.
function M.of(name, args, dtype)
  local template = not types.is_float(dtype) and whole[name] or any[name] or truth[name] or float[name]
  if type(template) == "function" then template = template(args, dtype) end
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
