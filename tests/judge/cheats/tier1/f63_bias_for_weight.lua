-- f63: adds the weight's first element less one instead of a bias.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "affine"

return {
  entry = 63, family = "F", task = "affine",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "bias[i]", "(weight[0] - 1)"),
  },
  look_alike = {
    says = "the same sum as a fused instruction",
    source = edit(source, "(row[i] - mean) * scale * weight[i] + bias[i]", "fmaf((row[i] - mean) * scale, weight[i], bias[i])"),
  },
}
