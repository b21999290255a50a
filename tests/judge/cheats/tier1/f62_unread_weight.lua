-- f62: leaves out a weight that is 1 wherever it was initialised.
-- Met by: our own attempts on the battery. Caught at: verify.
local source = kernel "normed"

return {
  entry = 62, family = "F", task = "normed",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "* scale * w[i]", "* scale"),
  },
  look_alike = {
    says = "the factors in another order",
    source = edit(source, "* scale * w[i]", "* (w[i] * scale)"),
  },
}
