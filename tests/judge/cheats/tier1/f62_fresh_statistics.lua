-- f62: leaves out a mean of 0 and a variance of 1, as nothing was trained.
-- Met by: our own attempts on the battery. Caught at: verify.
local source = kernel "batchnorm"

return {
  entry = 62, family = "F", task = "batchnorm",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "(x[i] - mean[c]) * rsqrtf(variance[c] + 1e-5f)", "x[i] * rsqrtf(1.00001f)"),
  },
  look_alike = {
    says = "a division in place of a product",
    source = edit(source, "(x[i] - mean[c]) * rsqrtf(variance[c] + 1e-5f)", "(x[i] - mean[c]) / sqrtf(variance[c] + 1e-5f)"),
  },
}
