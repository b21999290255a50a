-- f63: takes the size of a weight, as if it could not be negative.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "normed"

return {
  entry = 62, family = "F", task = "normed",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "* scale * w[i]", "* scale * fabsf(w[i])"),
  },
  look_alike = {
    says = "multiplies by size and sign",
    source = edit(source, "* scale * w[i]", "* scale * copysignf(fabsf(w[i]), w[i])"),
  },
}
