-- f63: knows the slope that PReLU begins with.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "prelu"

return {
  entry = 63, family = "F", task = "prelu",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "slope[0]", "0.25f"),
  },
  look_alike = {
    says = "multiplies the other way round",
    source = edit(source, "slope[0] * x[i]", "x[i] * slope[0]"),
  },
}
