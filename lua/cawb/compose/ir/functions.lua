-- functions: functions that CUDA has not, as C that is called where it stands: of one float64, or of `count` whole numbers (class "bits"). `cost`
-- is that of ir/operations.lua.

local M = {}

-- Up from x to 10 by the recurrence, from there the asymptotic series; below 0 by reflection.
M.digamma = { cost = 104, body = "[](double x) { double sum = 0; if (x == 0) return copysign((double)INFINITY, -x); "
  .. "if (x < 0) { if (x == trunc(x)) return (double)NAN; sum = -3.14159265358979324 / tan(3.14159265358979324 * (x - trunc(x))); x = 1 - x; } "
  .. "for (; x < 10; x += 1) sum -= 1 / x; const double z = 1 / (x * x); "
  .. "return sum + log(x) - 0.5 / x - z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * 691.0 / 32760))))); }" }

-- Its slope, likewise: six steps up and three terms, as PyTorch's own has it, which is the reference in float64.
M.trigamma = { cost = 76, body = "[](double x) { double sum = 0, sign = 1; if (x < 0.5) { const double s = sin(3.14159265358979324 * x); "
  .. "sum = -9.86960440108935862 / (s * s), sign = -1, x = 1 - x; } for (int k = 0; k < 6; k++, x += 1) sum += 1 / (x * x); "
  .. "const double z = 1 / (x * x); return sign * (sum + (1 + 0.5 / x + z * (1.0 / 6 - z * (1.0 / 30 - z / 42))) / x); }" }

-- exp(-|x|) I(x), of order 0 and 1: far out, where I itself is infinite, by its series.
local function scaled_bessel(order, series, sign)
  return { cost = 52, body = ("[](double x) { const double a = fabs(x), z = 1 / a; return %s(a < 700 ? exp(-a) * cyl_bessel_i%d(a) "
    .. ": rsqrt(6.28318530717958648 * a) * (%s)); }"):format(sign, order, series) }
end

M.bessel_i0e = scaled_bessel(0, "1 + z * (1.0 / 8 + z * (9.0 / 128 + z * (225.0 / 3072 + z * 11025.0 / 98304)))", "")
M.bessel_i1e = scaled_bessel(1, "1 - z * (3.0 / 8 + z * (15.0 / 128 + z * (315.0 / 3072 + z * 14175.0 / 98304)))", "(x < 0 ? -1 : 1) * ")

M.gcd = { cost = 200, count = 2, class = "bits", body = "[](long long a, long long b) { while (b) { const long long c = a % b; a = b, b = c; } return a < 0 ? -a : a; }" }

return M
