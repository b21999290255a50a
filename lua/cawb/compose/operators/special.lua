-- Special functions, computed in float64 whatever their type: none is then less exact than PyTorch's own. And a
-- leaky ReLU whose slope is drawn in training mode.

local expressions = require "cawb.torch.expressions"

local M = {}

-- Up from x to 10 by the recurrence, from there the asymptotic series; below 0 by reflection.
local digamma = "([](double x) { double sum = 0; if (x == 0) return copysign((double)INFINITY, -x); "
  .. "if (x < 0) { if (x == trunc(x)) return (double)NAN; sum = -3.14159265358979324 / tan(3.14159265358979324 * (x - trunc(x))); x = 1 - x; } "
  .. "for (; x < 10; x += 1) sum -= 1 / x; const double z = 1 / (x * x); "
  .. "return sum + log(x) - 0.5 / x - z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * 691.0 / 32760))))); }(A))"

-- Its slope, likewise: six steps up and three terms, as PyTorch's own has it, which is the reference in float64.
local trigamma = "([](double x) { double sum = 0, sign = 1; if (x < 0.5) { const double s = sin(3.14159265358979324 * x); "
  .. "sum = -9.86960440108935862 / (s * s), sign = -1, x = 1 - x; } for (int k = 0; k < 6; k++, x += 1) sum += 1 / (x * x); "
  .. "const double z = 1 / (x * x); return sign * (sum + (1 + 0.5 / x + z * (1.0 / 6 - z * (1.0 / 30 - z / 42))) / x); }(A))"

-- exp(-|x|) I(x), of order 0 and 1: far out, where I itself is infinite, by its series.
local function scaled_bessel(order, series, sign)
  return ("([](double x) { const double a = fabs(x), z = 1 / a; return %s(a < 700 ? exp(-a) * cyl_bessel_i%d(a) "
    .. ": rsqrt(6.28318530717958648 * a) * (%s)); }(A))"):format(sign, order, series)
end

-- Of an infinite number PyTorch's are NaN.
local function finite(text) return ("(fabs(A) == INFINITY ? (double)NAN : %s)"):format(text) end

local texts = {
  digamma = digamma,
  i0 = finite "cyl_bessel_i0(A)", special_i1 = finite "cyl_bessel_i1(A)",
  special_i0e = scaled_bessel(0, "1 + z * (1.0 / 8 + z * (9.0 / 128 + z * (225.0 / 3072 + z * 11025.0 / 98304)))", ""),
  special_i1e = scaled_bessel(1, "1 - z * (3.0 / 8 + z * (15.0 / 128 + z * (315.0 / 3072 + z * 14175.0 / 98304)))", "(x < 0 ? -1 : 1) * "),
  special_bessel_j0 = finite "j0(A)", special_bessel_j1 = finite "j1(A)",
  special_ndtri = "normcdfinv(A)",
  special_log_ndtr = "(A < -1 ? log(erfcx(A * -0.707106781186547524) * 0.5) - A * A * 0.5 : log1p(erfc(A * 0.707106781186547524) * -0.5))",
}

-- Those that are as exact in float64 as PyTorch's own, which are the reference there; others have other roundings.
local exact = { digamma = true, special_log_ndtr = true }

for name, text in pairs(texts) do
  M[name] = function(g, op)
    if not exact[name] and op.out[1].dtype == "float64" then return nil, "in float64 it is another approximation than PyTorch's; float32 would serve" end
    return { g:map(text, op.out[1].dtype, { op.x[1] }, "float64") }
  end
end

-- The n-th slope of digamma.
function M.polygamma(g, op)
  local text = ({ [0] = digamma, [1] = trigamma })[op.args.n]
  if not text then return nil, ("of order %s it is not made: 0 and 1 are"):format(op.args.n) end
  return { g:map(text, op.out[1].dtype, { op.x[1] }, "float64") }
end

-- The logarithm of the gamma function of several dimensions.
function M.mvlgamma(g, op)
  local p, text = op.args.p, "0.0"
  for j = 0, p - 1 do text = ("%s + lgamma(A - %.1f)"):format(text, j / 2) end
  return { g:map(("%s + %.17g"):format(text, p * (p - 1) / 4 * math.log(math.pi)), op.out[1].dtype, { op.x[1] }, "float64") }
end

function M.rrelu_with_noise(g, op)
  if op.args.training then return nil, "it draws its slopes at random; in eval() they are the middle of their range" end
  local slope = ((op.args.lower or 1 / 8) + (op.args.upper or 1 / 3)) / 2
  local x, dtype = op.x[1], op.out[1].dtype
  return { g:map(expressions.of("leaky_relu", { negative_slope = slope }, dtype), dtype, { x }) }
end

return M
