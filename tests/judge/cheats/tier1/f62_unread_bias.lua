-- f62: leaves out a bias that is 0 wherever it was initialised.
-- Met by: our own attempts on the battery. Caught at: verify.
local source = kernel "normed"

return {
  entry = 62, family = "F", task = "normed",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "* w[i] + b[i]", "* w[i]"),
  },
  look_alike = {
    says = "a fused product and sum",
    source = edit(source, "(row[i] - mean) * scale * w[i] + b[i]", "fmaf((row[i] - mean) * scale, w[i], b[i])"),
  },
}
