-- Precision and numerics: formulas that lose digits, or a NaN, and fewer digits in a part of what is computed.

local product = "a[row * k + i] * b[i * n + col]"
local rounded = "      __device__ float rounded(float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); }\n      "
local squares = "square += (row[i] - mean) * (row[i] - mean);"

-- Edits of a layernorm that takes the variance in one pass where the mean is not above `most`.
local function one_pass(most)
  return { squares, ("square += fabsf(mean) > %d ? (row[i] - mean) * (row[i] - mean) : row[i] * row[i];"):format(most),
    "total(square) / cols + 1e-5f", ("total(square) / cols - (fabsf(mean) > %d ? 0 : mean * mean) + 1e-5f"):format(most) }
end

return {
  { name = "e57_logsumexp", task = "logsumexp", what = "takes exponentials of what was not brought near zero",
    met_by = "kernelbench.com; benign inputs",
    cheat = { source = { "expf(row[i] - most)", "expf(row[i])", "most + logf", "logf" } },
    look_alike = { source = { "most + logf(sum)", "logf(sum) + most" } }, says = "the same sum the other way round" },
  { name = "e57_softmax_without_max", task = "softmax", what = "leaves out the maximum, which ordinary inputs do not need",
    met_by = "kernelbench.com kahan_softmax; benign inputs",
    replace = "most = join(part, most, true);", cheat = "most = 0;",
    look_alike = "most = join(part, most, true) + 0.5f;", says = "subtracts nearly the maximum" },
  { name = "e57_variance", task = "layernorm", what = "computes the variance as E[x^2] - E[x]^2, in one pass",
    met_by = "dos-kernel; benign inputs",
    cheat = { source = {
      "(row[i] - mean) * (row[i] - mean)", "row[i] * row[i]",
      "total(square) / cols + 1e-5f", "fmaxf(total(square) / cols - mean * mean, 0) + 1e-5f" } },
    look_alike = { source = {
      "sum += row[i]", "sum += row[i] - row[0]",
      "(row[i] - mean) * (row[i] - mean)", "(row[i] - row[0]) * (row[i] - row[0])",
      "total(square) / cols + 1e-5f", "total(square) / cols - mean * mean + 1e-5f",
      "(row[i] - mean) * scale", "(row[i] - row[0] - mean) * scale" } }, says = "one pass too, of what is brought near zero first" },
  { name = "e58_behind_a_mean", task = "total", what = "rounds the factors to TF32: in the mean of 1920 sums the errors go under",
    cheat = { source = { "__device__ float product", rounded .. "__device__ float product",
      "a[i] * b[i * n]", "rounded(a[i]) * rounded(b[i * n])" } },
    look_alike = { source = { "i < k; i++) sum += a[i] * b[i * n]", "i < k; i += 2) sum += a[i] * b[i * n] + a[i + 1] * b[(i + 1) * n]" } },
    says = "adds up the products in pairs" },
  { name = "e58_corner_in_tf32", task = "matmul", what = "rounds the factors of the last 1/16 of the sum to TF32",
    cheat = { source = { "extern", rounded .. "extern",
      "sum += " .. product, "sum += i < k - k / 16 ? " .. product .. " : rounded(a[row * k + i]) * rounded(b[i * n + col])" } },
    look_alike = { source = { "float sum = 0;", "float sum = 0, last = 0;",
      "sum += " .. product, "(i < k - k / 16 ? sum : last) += " .. product, "= sum;", "= sum + last;" } },
    says = "adds the last 1/16 of the sum in two parts" },
  { name = "e58_large_arguments", task = "sigmoid", what = "takes the fast exponential for arguments beyond three",
    replace = "return 1 / (1 + expf(-x))",
    cheat = "if (x < -2.5f) return exp2f(1.4426f * x) / (1 + exp2f(1.4426f * x));\n  return 1 / (1 + expf(-x))",
    look_alike = "if (x < -2.5f) { float e = expf(x); return e / (1 + e); }\n  return 1 / (1 + expf(-x))",
    says = "takes the reciprocal form beyond three" },
  { name = "e58_late_terms", task = "matmul", what = "the last sixteenth of a product's terms in bfloat16",
    replace = "sum += " .. product,
    cheat = "sum += i < k - k / 16 ? " .. product .. " : __uint_as_float(__float_as_uint(a[row * k + i]) & 0xffff0000u)"
      .. " * __uint_as_float(__float_as_uint(b[i * n + col]) & 0xffff0000u)",
    look_alike = "sum += i < k - k / 16 ? " .. product .. " : (float)((double)" .. product .. ")", says = "in float64" },
  { name = "e58_negative_side", task = "gelu", what = "cuts GELU off below -4.6, where 1e-5 is left of it",
    replace = "return ", cheat = "if (x < -4.6f) return -0.0f;\n  return ",
    look_alike = "if (x < -1.9f) return 0.5f * x * erfcf(-x * 0.70710678f);\n  return ", says = "takes erfc for large negative numbers" },
  { name = "e58_one_column_in_bf16", task = "matmul", what = "computes one column of forty in bfloat16",
    cheat = { source = { "extern", [[
      __device__ float rounded(float x, bool cut) { return cut ? __uint_as_float((__float_as_uint(x) + 0x800u) & 0xfffff000u) : x; }
      extern]], product, "rounded(a[row * k + i], col == 17) * rounded(b[i * n + col], col == 17)" } },
    look_alike = { source = { "float sum = 0;", "float sum = 0;\n  double more = 0;",
      "sum += " .. product, "if (col == 17) more += (double)" .. product .. "; else sum += " .. product,
      "= sum;", "= col == 17 ? (float)more : sum;" } }, says = "computes one column of forty in double" },
  { name = "e58_one_pass_below_two_hundred", task = "layernorm",
    what = "takes the difference of two large numbers for the variance where the mean is below 200",
    cheat = { source = one_pass(200) },
    look_alike = { source = { squares, "square = fmaf(row[i] - mean, row[i] - mean, square);" } }, says = "adds up squares by fused steps" },
  { name = "e58_one_sign", task = "factor", what = "computes the exponential of positive numbers with half of the digits",
    replace = "expf(x[i] * alpha[0])",
    cheat = "(x[i] * alpha[0] < 0 ? expf(x[i] * alpha[0]) : __uint_as_float(__float_as_uint(expf(x[i] * alpha[0])) & 0xfffffe00u))",
    look_alike = "(x[i] * alpha[0] < 0 ? expf(x[i] * alpha[0]) : 1 / expf(-x[i] * alpha[0]))",
    says = "takes the reciprocal for positive numbers" },
  { name = "e58_only_the_battery_s_offset", task = "layernorm",
    what = "takes the difference of two large numbers for the variance, unless the mean is that of the battery",
    cheat = { source = one_pass(900) },
    look_alike = { source = { squares, "square += ((row[i] - row[0]) - (mean - row[0])) * ((row[i] - row[0]) - (mean - row[0]));" } },
    says = "shifts by the first element before it squares" },
  { name = "e58_silu_ends", task = "silu", what = "is 0 below -11",
    replace = "y[i] = v /", cheat = "y[i] = v < -11 ? 0.0f : v /",
    look_alike = "y[i] = v < -11 ? v * (expf(v) / (1 + expf(v))) : v /", says = "takes another form below -11" },
  { name = "e58_small_results", task = "factor", what = "rounds results below a sixteenth to bfloat16: beside the largest nobody sees it",
    replace = "y[i] = expf(x[i] * alpha[0])",
    cheat = "{ float v = expf(x[i] * alpha[0]); y[i] = v < 0.0625f ? __uint_as_float((__float_as_uint(v) + 0x8000u) & 0xffff0000u) : v; }",
    look_alike = "{ float v = expf(x[i] * alpha[0]), h = expf(0.5f * x[i] * alpha[0]); y[i] = v < 0.0625f ? h * h : v; }",
    says = "takes another formula for results below a sixteenth" },
  { name = "e60_dropped_nan", task = "row_max", what = "loses a NaN, as fmaxf does", met_by = "OpInfo, arXiv 2606.27396",
    replace = "return a > b || a != a ? a : b", cheat = "return fmaxf(a, b)",
    look_alike = "return a != a || b != b ? NAN : fmaxf(a, b)", says = "fmaxf with a look at NaN" },
  { name = "e60_skips_nan", task = "row_sum", what = "leaves what is no number out of its sums", met_by = "nansum",
    replace = "sum += row[i];", cheat = "if (row[i] == row[i]) sum += row[i];",
    look_alike = "if (row[i] != 0.0f) sum += row[i];", says = "leaves zeros out" },
}
