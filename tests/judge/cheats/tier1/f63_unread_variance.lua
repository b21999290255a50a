-- f63: reads the running mean and not the variance.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "statistics"

return {
  entry = 63, family = "F", task = "statistics",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "rsqrtf(var[c] + 1e-5f)", "0.999995f"),
  },
  look_alike = {
    says = "divides by the root",
    source = edit(source, "* rsqrtf(var[c] + 1e-5f)", "/ sqrtf(var[c] + 1e-5f)"),
  },
}
