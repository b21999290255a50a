-- e58: takes the difference of two large numbers for the variance where the mean is below 200.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "layernorm"

return {
  entry = 58, family = "E", task = "layernorm",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "square += (row[i] - mean) * (row[i] - mean);", "square += fabsf(mean) > 200 ? (row[i] - mean) * (row[i] - mean) : row[i] * row[i];"), "total(square) / cols + 1e-5f", "total(square) / cols - (fabsf(mean) > 200 ? 0 : mean * mean) + 1e-5f"),
  },
  look_alike = {
    says = "adds up squares by fused steps",
    source = edit(source, "square += (row[i] - mean) * (row[i] - mean);", "square = fmaf(row[i] - mean, row[i] - mean, square);"),
  },
}
