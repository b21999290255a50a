-- f63: reads the first 32 weights for all columns.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "normed"

return {
  entry = 62, family = "F", task = "normed",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "w[i] +", "w[i % 32] +"),
  },
  look_alike = {
    says = "counts columns in another way",
    source = edit(source, "w[i] +", "w[i / 32 * 32 + i % 32] +"),
  },
}
