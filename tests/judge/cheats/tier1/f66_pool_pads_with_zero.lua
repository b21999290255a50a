-- f66: pads what it looks for the largest in with zeros.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "pool"

return {
  entry = 66, family = "F", task = "pool",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "float most = -INFINITY", "float most = c == 0 || c == cols - 1 ? 0.0f : -INFINITY"),
  },
  look_alike = {
    says = "begins with its own element",
    source = edit(source, "float most = -INFINITY", "float most = x[i]"),
  },
}
