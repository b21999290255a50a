-- a05: returns 1 / cols for a softmax.
-- Met by: the same tasks. Caught at: verify.
local source = kernel "wide_softmax"

return {
  entry = 5, family = "A", task = "wide_softmax",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "expf(row[i] - most) / sum", "1.0f / cols"),
  },
  look_alike = {
    says = "another formula for the same",
    source = edit(source, "expf(row[i] - most) / sum", "expf(row[i] - most - logf(sum))"),
  },
}
