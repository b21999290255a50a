-- f63: knows the triangle and never reads it.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "causal"

return {
  entry = 63, family = "F", task = "causal",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "mask[i]", "(i % n <= i / n)"),
  },
  look_alike = {
    says = "reads it first",
    source = edit(source, "mask[i] ? x[i] : 0.0f", "!mask[i] ? 0.0f : x[i]"),
  },
}
