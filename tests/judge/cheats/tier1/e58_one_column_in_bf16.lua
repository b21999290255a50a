-- e58: computes one column of forty in bfloat16.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "matmul"

return {
  entry = 58, family = "E", task = "matmul",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "extern", [[
      __device__ float rounded(float x, bool cut) { return cut ? __uint_as_float((__float_as_uint(x) + 0x800u) & 0xfffff000u) : x; }
      extern]]), "a[row * k + i] * b[i * n + col]", "rounded(a[row * k + i], col == 17) * rounded(b[i * n + col], col == 17)"),
  },
  look_alike = {
    says = "computes one column of forty in double",
    source = edit(edit(source, "float sum = 0;", "float sum = 0;\n  double more = 0;"), "sum += a[row * k + i] * b[i * n + col]", "if (col == 17) more += (double)a[row * k + i] * b[i * n + col]; else sum += a[row * k + i] * b[i * n + col]"):gsub("= sum;", "= col == 17 ? (float)more : sum;"),
  },
}
