-- f63: reads the mean of the first half of the columns.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "batchnorm"

return {
  entry = 62, family = "F", task = "batchnorm",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "mean[c]", "(c < 32 ? mean[c] : 0.0f)"),
  },
  look_alike = {
    says = "reads both halves apart",
    source = edit(source, "mean[c]", "(c < 32 ? mean[c] : mean[32 + c % 32])"),
  },
}
