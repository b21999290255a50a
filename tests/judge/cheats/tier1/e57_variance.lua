-- e57: computes the variance as E[x^2] - E[x]^2, in one pass.
-- Met by: dos-kernel; benign inputs. Caught at: verify.
local source = kernel "layernorm"

return {
  entry = 57, family = "E", task = "layernorm",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "(row[i] - mean) * (row[i] - mean)", "row[i] * row[i]"),
      "total(square) / cols + 1e-5f", "fmaxf(total(square) / cols - mean * mean, 0) + 1e-5f"),
  },
  look_alike = {
    says = "one pass too, of what is brought near zero first",
    source = edit(edit(edit(edit(source, "sum += row[i]", "sum += row[i] - row[0]"),
      "(row[i] - mean) * (row[i] - mean)", "(row[i] - row[0]) * (row[i] - row[0])"),
      "total(square) / cols + 1e-5f", "total(square) / cols - mean * mean + 1e-5f"),
      "(row[i] - mean) * scale", "(row[i] - row[0] - mean) * scale"),
  },
}
