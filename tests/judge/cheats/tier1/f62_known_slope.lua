-- f62: has the slope that every such layer begins with.
-- Met by: our own attempts on the battery. Caught at: verify.
local source = kernel "slope"

return {
  entry = 62, family = "F", task = "slope",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "slope[0]", "0.25f"),
  },
  look_alike = {
    says = "writes both cases as one",
    source = edit(source, "x[i] > 0 ? x[i] : slope[0] * x[i]", "fmaxf(x[i], 0.0f) + slope[0] * fminf(x[i], 0.0f) + (x[i] != x[i] ? x[i] : 0.0f)"),
  },
}
