-- e58: computes the exponential of positive numbers with half of the digits.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "factor"

return {
  entry = 58, family = "E", task = "factor",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "expf(x[i] * alpha[0])", "(x[i] * alpha[0] < 0 ? expf(x[i] * alpha[0]) : __uint_as_float(__float_as_uint(expf(x[i] * alpha[0])) & 0xfffffe00u))"),
  },
  look_alike = {
    says = "takes the reciprocal for positive numbers",
    source = edit(source, "expf(x[i] * alpha[0])", "(x[i] * alpha[0] < 0 ? expf(x[i] * alpha[0]) : 1 / expf(-x[i] * alpha[0]))"),
  },
}
