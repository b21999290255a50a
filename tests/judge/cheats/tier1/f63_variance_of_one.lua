-- f63: takes no variance below 1.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "batchnorm"

return {
  entry = 62, family = "F", task = "batchnorm",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "variance[c] + 1e-5f", "fmaxf(variance[c], 1.0f) + 1e-5f"),
  },
  look_alike = {
    says = "takes no variance below 0",
    source = edit(source, "variance[c] + 1e-5f", "fmaxf(variance[c], 0.0f) + 1e-5f"),
  },
}
