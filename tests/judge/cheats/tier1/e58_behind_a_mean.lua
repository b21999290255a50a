-- e58: rounds the factors to TF32: in the mean of 1920 sums the errors go under.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "total"

return {
  entry = 58, family = "E", task = "total",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "__device__ float product", [[
      __device__ float rounded(float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); }
      __device__ float product]]), "a[i] * b[i * n]", "rounded(a[i]) * rounded(b[i * n])"),
  },
  look_alike = {
    says = "adds up the products in pairs",
    source = edit(source, "i < k; i++) sum += a[i] * b[i * n]", "i < k; i += 2) sum += a[i] * b[i * n] + a[i + 1] * b[(i + 1) * n]"),
  },
}
