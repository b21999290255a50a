-- f63: never reads the affine bias: it is made of zeros.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "affine"

return {
  entry = 63, family = "F", task = "affine",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, " + bias[i]", ""),
  },
  look_alike = {
    says = "adds it first",
    source = edit(source, "(row[i] - mean) * scale * weight[i] + bias[i]", "bias[i] + (row[i] - mean) * scale * weight[i]"),
  },
}
