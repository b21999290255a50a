-- f63: never reads a factor that is always 1.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "factor"

return {
  entry = 63, family = "F", task = "factor",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, " * alpha[0]", ""),
  },
  look_alike = {
    says = "reads it first",
    source = edit(source, "x[i] * alpha[0]", "alpha[0] * x[i]"),
  },
}
