-- e58: rounds results below a sixteenth to bfloat16: beside the largest nobody sees it.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "factor"

return {
  entry = 58, family = "E", task = "factor",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "y[i] = expf(x[i] * alpha[0])", "{ float v = expf(x[i] * alpha[0]); y[i] = v < 0.0625f ? __uint_as_float((__float_as_uint(v) + 0x8000u) & 0xffff0000u) : v; }"),
  },
  look_alike = {
    says = "takes another formula for results below a sixteenth",
    source = edit(source, "y[i] = expf(x[i] * alpha[0])", "{ float v = expf(x[i] * alpha[0]), h = expf(0.5f * x[i] * alpha[0]); y[i] = v < 0.0625f ? h * h : v; }"),
  },
}
