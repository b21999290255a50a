-- f62: begins at 0: every row has something above it.
-- Met by: our own attempts on the battery. Caught at: verify.
local source = kernel "row_max"

return {
  entry = 62, family = "F", task = "row_max",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "float most = -INFINITY", "float most = 0.0f"),
  },
  look_alike = {
    says = "begins at the first element",
    source = edit(source, "float most = -INFINITY", "float most = x[(size_t)blockIdx.x * cols]"),
  },
}
