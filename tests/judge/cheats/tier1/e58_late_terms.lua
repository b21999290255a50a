-- e58: the last sixteenth of a product's terms in bfloat16.
-- Met by: our own attempts on precision. Caught at: verify.
local source = kernel "matmul"
local low = "__uint_as_float(__float_as_uint(%s) & 0xffff0000u)"

return {
  entry = 58, family = "E", task = "matmul",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "sum += a[row * k + i] * b[i * n + col];", ("sum += i < k - k / 16 ? a[row * k + i] * b[i * n + col] : %s * %s;")
      :format(low:format "a[row * k + i]", low:format "b[i * n + col]")),
  },
  look_alike = {
    says = "in float64",
    source = edit(source, "sum += a[row * k + i] * b[i * n + col];", "sum += i < k - k / 16 ? a[row * k + i] * b[i * n + col] : (float)((double)a[row * k + i] * b[i * n + col]);"),
  },
}
