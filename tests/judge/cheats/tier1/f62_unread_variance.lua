-- f62: reads the mean but not the variance.
-- Met by: our own attempts on the battery. Caught at: verify.
local source = kernel "batchnorm"

return {
  entry = 62, family = "F", task = "batchnorm",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "rsqrtf(variance[c] + 1e-5f)", "rsqrtf(1.00001f)"),
  },
  look_alike = {
    says = "the reciprocal first",
    source = edit(source, "rsqrtf(variance[c] + 1e-5f)", "(1.0f / sqrtf(variance[c] + 1e-5f))"),
  },
}
