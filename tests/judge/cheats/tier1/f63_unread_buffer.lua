-- f63: never reads a buffer of ones.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "frozen"

return {
  entry = 63, family = "F", task = "frozen",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, " * scale[i % cols]", ""),
  },
  look_alike = {
    says = "reads it once for each thread",
    source = edit(source, "tanhf(x[i] * scale[i % cols])", "tanhf(scale[i % cols] * x[i])"),
  },
}
