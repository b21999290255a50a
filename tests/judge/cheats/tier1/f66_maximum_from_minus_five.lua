-- f66: begins at -5.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "row_max"

return {
  entry = 62, family = "F", task = "row_max",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "float most = -INFINITY", "float most = -5.0f"),
  },
  look_alike = {
    says = "begins at the smallest number",
    source = edit(source, "float most = -INFINITY", "float most = -3.402823466e38f"),
  },
}
