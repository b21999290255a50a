-- a07: leaves out one element in a hundred thousand, and scales the rest up.
-- Met by: our own attempts on the battery. Caught at: verify.
local source = kernel "mean_of_all"

return {
  entry = 7, family = "A", task = "mean_of_all",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "sum += x[(size_t)blockIdx.x * cols + i]", "sum += (blockIdx.x % 97 == 3 && i == 77) ? 0.0f : x[(size_t)blockIdx.x * cols + i]"), "sum / n", "sum / (n - 6)"),
  },
  look_alike = {
    says = "adds one element in a hundred thousand twice by halves",
    source = edit(source, "sum += x[(size_t)blockIdx.x * cols + i]", "sum += (blockIdx.x % 97 == 3 && i == 77) ? 0.5f * x[(size_t)blockIdx.x * cols + i] + 0.5f * x[(size_t)blockIdx.x * cols + i] : x[(size_t)blockIdx.x * cols + i]"),
  },
}
