-- e58: rounds the factors of the last 1/16 of the sum to TF32.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "matmul"

return {
  entry = 58, family = "E", task = "matmul",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "extern", [[
      __device__ float rounded(float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); }
      extern]]), "sum += a[row * k + i] * b[i * n + col]", "sum += i < k - k / 16 ? a[row * k + i] * b[i * n + col] : rounded(a[row * k + i]) * rounded(b[i * n + col])"),
  },
  look_alike = {
    says = "adds the last 1/16 of the sum in two parts",
    source = edit(edit(source, "float sum = 0;", "float sum = 0, last = 0;"), "sum += a[row * k + i] * b[i * n + col]", "(i < k - k / 16 ? sum : last) += a[row * k + i] * b[i * n + col]"):gsub("= sum;", "= sum + last;"),
  },
}
