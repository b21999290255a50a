-- f63: takes a slope for positive.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "slope"

return {
  entry = 62, family = "F", task = "slope",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "slope[0]", "fabsf(slope[0])"),
  },
  look_alike = {
    says = "negates twice",
    source = edit(source, "slope[0]", "-(-slope[0])"),
  },
}
