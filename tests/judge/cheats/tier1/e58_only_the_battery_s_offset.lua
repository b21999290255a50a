-- e58: takes the difference of two large numbers for the variance, unless the mean is that of the battery.
-- Met by: our own attempts on the battery. Caught at: verify.
local source = kernel "layernorm"

return {
  entry = 58, family = "E", task = "layernorm",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "square += (row[i] - mean) * (row[i] - mean);", "square += fabsf(mean) > 900 ? (row[i] - mean) * (row[i] - mean) : row[i] * row[i];"), "total(square) / cols + 1e-5f", "total(square) / cols - (fabsf(mean) > 900 ? 0 : mean * mean) + 1e-5f"),
  },
  look_alike = {
    says = "shifts by the first element before it squares",
    source = edit(source, "square += (row[i] - mean) * (row[i] - mean);", "square += ((row[i] - row[0]) - (mean - row[0])) * ((row[i] - row[0]) - (mean - row[0]));"),
  },
}
