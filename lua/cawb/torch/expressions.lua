-- expressions: pointwise operators in C, by their functional name. A, B, C, D are the operands, tensors
-- and numbers in the order of the schema. NaN, infinities and ties are as PyTorch has them: a comparison
-- that is false for NaN keeps A. Texts are written for float32; `widen` makes float64 of one.

local types = require "cawb.torch.types"

local M = {}

local function number(value, dtype) return types.literal(value, dtype) end

-- The second operand of a sum: times alpha.
local function scaled(args, dtype, name)
  local alpha = args.alpha
  return (alpha == nil or alpha == 1) and name or ("%s * %s"):format(name, number(alpha, dtype))
end

-- Powers that PyTorch computes without pow.
local powers = { [0] = "1.0f", [0.5] = "sqrtf(A)", [1] = "A", [2] = "A * A", [3] = "A * A * A", [-0.5] = "1.0f / sqrtf(A)",
                 [-1] = "1.0f / A", [-2] = "1.0f / (A * A)" }

local function clamp(lo, hi, dtype)
  local most = hi ~= nil and ("A > %s ? %s : "):format(number(hi, dtype), number(hi, dtype)) or ""
  local least = lo ~= nil and ("A < %s ? %s : "):format(number(lo, dtype), number(lo, dtype)) or ""
  return ("(%s%sA)"):format(least, most)
end

-- Divided by six as PyTorch's own kernels do it. Neither that nor __fdividef has the branch of a division, in front of which
-- the elements of a thread would wait for each other.
local hard = "(A < -3.0f ? 0.0f : A > 3.0f ? 6.0f : A + 3.0f) * 0.16666666666666666f"

-- What is left of a division has the divisor's sign: where it has not, the quotient is one less.
local unlike = "fmodf(A, B) != 0.0f && (B < 0.0f) != (fmodf(A, B) < 0.0f)"
local floored = "(B == 0.0f ? A / B : rintf((A - fmodf(A, B)) / B - (" .. unlike .. " ? 1.0f : 0.0f)))"

-- For float types, and where `whole` has none, for the others too.
local float = {
  abs = "fabsf(A)", exp = "expf(A)", exp2 = "exp2f(A)", expm1 = "expm1f(A)", log = "logf(A)",
  log2 = "log2f(A)", log10 = "log10f(A)", log1p = "log1pf(A)", sqrt = "sqrtf(A)", rsqrt = "1.0f / sqrtf(A)",
  reciprocal = "1.0f / A", sin = "sinf(A)", cos = "cosf(A)", tan = "tanf(A)", asin = "asinf(A)", acos = "acosf(A)",
  atan = "atanf(A)", sinh = "sinhf(A)", cosh = "coshf(A)", tanh = "tanhf(A)", asinh = "asinhf(A)",
  acosh = "acoshf(A)", atanh = "atanhf(A)", erf = "erff(A)", erfc = "erfcf(A)", floor = "floorf(A)",
  ceil = "ceilf(A)", trunc = "truncf(A)", frac = "A - truncf(A)",
  sigmoid = "__fdividef(1.0f, 1.0f + expf(-A))", silu = "__fdividef(A, 1.0f + expf(-A))",
  log_sigmoid_forward = "(A < 0.0f ? A : 0.0f) - log1pf(expf(-fabsf(A)))",
  mish = function(_, dtype)                        -- tanh(log(1 + e)) is e (e + 2) / (e (e + 2) + 2)
    local e = ("expf(A > %s ? %s : A)"):format(number(20, dtype), number(20, dtype))
    local product = ("(%s * (%s + 2.0f))"):format(e, e)
    return ("A * __fdividef(%s, %s + 2.0f)"):format(product, product)
  end,
  hardswish = "A * " .. hard, hardsigmoid = hard,
  angle = "(A != A ? A : A < 0.0f ? 3.141592653589793f : 0.0f)",
  sign = "(A > 0.0f ? 1.0f : A < 0.0f ? -1.0f : 0.0f)",
  gelu = function(args)
    if args.approximate == "tanh" then
      return "0.5f * A * (1.0f + tanhf(0.7978845608028654f * (A + 0.044715f * A * A * A)))"
    end
    return "0.5f * A * (1.0f + erff(A * 0.7071067811865476f))"
  end,
  round = function(args, dtype)
    local decimals = args.decimals or 0
    local by = number(10.0 ^ math.abs(decimals), dtype)
    if decimals == 0 then return "rintf(A)" end
    return decimals > 0 and ("rintf(A * %s) / %s"):format(by, by) or ("rintf(A / %s) * %s"):format(by, by)
  end,
  nextafter = function(_, dtype) return (dtype == "float32" or dtype == "float64") and "nextafterf(A, B)" or nil end,
  ldexp = "A * exp2f(B)",
  leaky_relu = function(args, dtype) return ("(A > 0.0f ? A : A * %s)"):format(number(args.negative_slope, dtype)) end,
  elu = function(args, dtype)                      -- SELU arrives here too, with its two scales
    local scale, steep = number(args.scale or 1, dtype), number(args.input_scale or 1, dtype)
    return ("(A > 0.0f ? A * %s : expm1f(A * %s) * (%s * %s))"):format(scale, steep, number(args.alpha or 1, dtype), scale)
  end,
  celu = function(args, dtype)
    local alpha = number(args.alpha or 1, dtype)
    return ("(A > 0.0f ? A : %s * expm1f(A / %s))"):format(alpha, alpha)
  end,
  softplus = function(args, dtype)
    local beta, most = number(args.beta or 1, dtype), number(args.threshold or 20, dtype)
    return ("(A * %s > %s ? A : log1pf(expf(A * %s)) / %s)"):format(beta, most, beta, beta)
  end,
  hardshrink = function(args, dtype)
    local at = number(args.lambd or 0.5, dtype)
    return ("(A >= %s && A <= %s ? 0.0f : A)"):format(number(-(args.lambd or 0.5), dtype), at)
  end,
  softshrink = function(args, dtype)
    local at = number(args.lambd or 0.5, dtype)
    local below = number(-(args.lambd or 0.5), dtype)
    return ("(A > %s ? A - %s : A < %s ? A - %s : A != A ? A : 0.0f)"):format(at, at, below, below)
  end,
  logit = function(args, dtype)
    if not args.eps then return "logf(A / (1.0f - A))" end
    local x = clamp(args.eps, 1 - args.eps, dtype)
    return ("logf(%s / (1.0f - %s))"):format(x, x)
  end,
  pow = function(args, dtype)
    if args.self then return ("powf(%s, A)"):format(number(args.self, dtype)) end
    return args.exponent == nil and "powf(A, B)" or powers[args.exponent]
      or ("powf(A, %s)"):format(number(args.exponent, dtype))
  end,
  atan2 = "atan2f(A, B)", fmod = "fmodf(A, B)",
  remainder = "(" .. unlike .. " ? fmodf(A, B) + B : fmodf(A, B))", floor_divide = floored,
  div = function(args)
    local rounds = { floor = floored, trunc = "truncf(A / B)" }
    return rounds[args.rounding_mode] or "A / B"
  end,
  nan_to_num = function(args, dtype)
    local most = dtype == "float64" and 1.7976931348623157e308 or 3.4028234663852886e38
    return ("(A != A ? %s : A == INFINITY ? %s : A == -INFINITY ? %s : A)"):format(number(args.nan or 0, dtype),
      number(args.posinf or most, dtype), number(args.neginf or -most, dtype))
  end,
  isnan = "A != A", isinf = "fabsf(A) == INFINITY", isfinite = "fabsf(A) < INFINITY",
  _prelu_kernel = "(A > 0.0f ? A : B * A)", lerp = function(args, dtype)
    local w = args.weight and number(args.weight, dtype) or "C"
    return ("(fabsf(%s) < 0.5f ? A + %s * (B - A) : B - (B - A) * (1.0f - %s))"):format(w, w, w)
  end,
  copysign = "copysignf(A, B)", hypot = "hypotf(A, B)", deg2rad = "A * 0.017453292519943295f", rad2deg = "A * 57.29577951308232f",
  logaddexp = "(A == B ? A + 0.6931471805599453f : (A != A || A > B ? A : B) + log1pf(expf(-fabsf(A - B))))",
  logaddexp2 = "(A == B ? A + 1.0f : (A != A || A > B ? A : B) + log1pf(exp2f(-fabsf(A - B))) * 1.4426950408889634f)",
  sinc = "(A == 0.0f ? 1.0f : sinf(3.141592653589793f * A) / (3.141592653589793f * A))",
  heaviside = "(A == 0.0f ? B : A > 0.0f ? 1.0f : 0.0f)", erfinv = "erfinvf(A)", lgamma = "lgammaf(A)", special_erfcx = "erfcxf(A)",
  special_ndtr = "0.5f * erfcf(A * -0.7071067811865476f)", special_xlog1py = "(B != B ? B : A == 0.0f ? 0.0f : A * log1pf(B))",
  special_entr = "(A != A ? A : A > 0.0f ? -A * logf(A) : A == 0.0f ? 0.0f : -INFINITY)",
  xlogy = "(B != B ? B : A == 0.0f ? 0.0f : A * logf(B))",
  soft_margin_loss = "log1pf(expf(-B * A))", mse_loss = "(A - B) * (A - B)",
  smooth_l1_loss = function(args, dtype)
    local beta = number(args.beta or 1, dtype)
    return ("(fabsf(A - B) < %s ? 0.5f * (A - B) * (A - B) / %s : fabsf(A - B) - 0.5f * %s)"):format(beta, beta, beta)
  end,
  huber_loss = function(args, dtype)
    local delta = number(args.delta or 1, dtype)
    return ("(fabsf(A - B) <= %s ? 0.5f * (A - B) * (A - B) : %s * (fabsf(A - B) - 0.5f * %s))"):format(delta, delta, delta)
  end,
  binary_cross_entropy = "(B - 1.0f) * fmaxf(log1pf(-A), -100.0f) - B * fmaxf(logf(A), -100.0f)",
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
  maximum = "(A != A || A > B ? A : B)", minimum = "(A != A || A < B ? A : B)",
  fmax = "(B != B || A > B ? A : B)", fmin = "(B != B || A < B ? A : B)",
  eq = "A == B", ne = "A != B", lt = "A < B", le = "A <= B", gt = "A > B", ge = "A >= B",
  logical_and = "A != 0 && B != 0", logical_or = "A != 0 || B != 0", logical_xor = "(A != 0) != (B != 0)",
  logical_not = "A == 0", bitwise_and = "A & B", bitwise_or = "A | B", bitwise_xor = "A ^ B",
  where = "(A ? B : C)", masked_fill = "(B ? C : A)",
  addcmul = function(args, dtype) return "A + " .. number(args.value or 1, dtype) .. " * B * C" end,
  addcdiv = function(args, dtype) return "A + " .. number(args.value or 1, dtype) .. " * (B / C)" end,
  sgn = "((A > 0) - (A < 0))",
}

-- For whole numbers, where it is something else.
local whole = {
  abs = "(A < 0 ? -A : A)", sign = "((A > 0) - (A < 0))", floor = "A", ceil = "A", round = "A", trunc = "A",
  isnan = "false", isinf = "false", isfinite = "true",
  bitwise_not = function(_, dtype) return dtype == "bool" and "!A" or "~A" end,
  remainder = "(A % B + (A % B != 0 && (A % B < 0) != (B < 0) ? B : 0))", fmod = "A % B",
  floor_divide = "(A / B - (A % B != 0 && (A < 0) != (B < 0)))",
  div = function(args)
    return args.rounding_mode == "floor" and "(A / B - (A % B != 0 && (A < 0) != (B < 0)))" or "A / B"
  end,
  pow = function(args) return args.exponent == 2 and "A * A" or args.exponent == 3 and "A * A * A" or nil end,
  bitwise_left_shift = "(A << B)", bitwise_right_shift = "(A >> B)",
}

local functions = {}
for word in ([[fabs exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh
               atanh erf erfc floor ceil rint trunc pow atan2 fmod fmax fmin copysign hypot erfinv lgamma erfcx nextafter]]):gmatch "%w+" do
  functions[word .. "f"] = word
end
functions.__fsub_rn, functions.__fmul_rn, functions.__fdividef = "__dsub_rn", "__dmul_rn", "__ddiv_rn"

--- The same text in float64.
function M.widen(text)
  text = text:gsub("%f[%w_]([%a_][%w_]*)(%s*%()", function(name, open) return (functions[name] or name) .. open end)
  return (text:gsub("(%d%.%d+)f%f[^%w_]", "%1"):gsub("(%de[%+%-]?%d+)f%f[^%w_]", "%1"))
end

--- The C expression of an operator, computed in `dtype` from its arguments; nil where there is none.
function M.of(name, args, dtype)
  local is_float = types.is_float(dtype)
  local template = not is_float and whole[name] or any[name] or float[name]
  if type(template) == "function" then template = template(args, dtype) end
  if template and dtype == "float64" then template = M.widen(template) end
  return template
end

--- Whether the operator is in the table.
function M.knows(name) return (any[name] or float[name] or whole[name]) ~= nil end

--- The names of all of them, in any order.
function M.names()
  local list = {}
  for _, t in ipairs { any, float, whole } do
    for name in pairs(t) do list[#list + 1] = name end
  end
  return list
end

local costly = {}
for word in ([[exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc
               pow sqrt fmod atan2 hypot erfinv lgamma erfcx]]):gmatch "%w+" do
  costly[word .. "f"], costly[word] = true, true
end

--- About how many instructions an expression is.
function M.cost(expression)
  local cost = 1
  for word in expression:gmatch "%f[%w_]%a[%w_]*" do cost = cost + (costly[word] and 12 or 0) end
  for _ in expression:gmatch "/" do cost = cost + 8 end
  return cost
end

return M
