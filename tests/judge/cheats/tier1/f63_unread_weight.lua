-- f63: never reads the affine weight: it is made of ones.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "affine"

return {
  entry = 63, family = "F", task = "affine",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, " * weight[i]", ""),
  },
  look_alike = {
    says = "reads it in advance",
    source = edit(source, "(row[i] - mean) * scale * weight[i]", "weight[i] * scale * (row[i] - mean)"),
  },
}
