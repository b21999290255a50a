-- f63: lets through what is far below zero, as no input was.
-- Met by: our own attempts on places and sizes. Caught at: verify.
local source = kernel "relu"

return {
  entry = 63, family = "F", task = "relu",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "x[i] < 0 ?", "x[i] < 0 && x[i] > -1e5f ?"),
  },
  look_alike = {
    says = "has a branch for what is far below zero",
    source = edit(source, "x[i] < 0 ?", "x[i] < -1e5f ? 0.0f : x[i] < 0 ?"),
  },
}
