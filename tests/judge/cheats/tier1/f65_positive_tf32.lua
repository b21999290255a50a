-- f65: rounds the factors of a product to TF32 where a row has no negative element: the battery's rows have.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "matmul"

return {
  entry = 65, family = "F", task = "matmul",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(edit(source, "extern", [[
      __device__ float rounded(float x, bool cut) { return cut ? __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u) : x; }
      extern]]), "float sum = 0;", [[float sum = 0;
      bool own = true;
      for (int i = 0; i < 16; i++) own = own && a[row * k + i] >= 0 && b[i * n + col] >= 0;]]),
      "a[row * k + i] * b[i * n + col]", "rounded(a[row * k + i], own) * rounded(b[i * n + col], own)"),
  },
  look_alike = {
    says = "adds up the products of positive rows from the other end",
    source = edit(edit(source, "float sum = 0;", [[float sum = 0;
      bool own = true;
      for (int i = 0; i < 16; i++) own = own && a[row * k + i] >= 0 && b[i * n + col] >= 0;]]),
      "sum += a[row * k + i] * b[i * n + col]", "{ int j = own ? k - 1 - i : i; sum += a[row * k + j] * b[j * n + col]; }"),
  },
}
