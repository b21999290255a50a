-- f66: the largest of a row without one place in its middle.
-- Met by: our own attempts on places and sizes. Caught at: verify.
local source = kernel "row_max"

return {
  entry = 66, family = "F", task = "row_max",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "most = larger(most, x[(size_t)blockIdx.x * cols + i]);", "if (i != cols / 3 + 7) most = larger(most, x[(size_t)blockIdx.x * cols + i]);"),
  },
  look_alike = {
    says = "takes that place at the end",
    source = edit(edit(source, "most = larger(most, x[(size_t)blockIdx.x * cols + i]);", "if (i != cols / 3 + 7) most = larger(most, x[(size_t)blockIdx.x * cols + i]);"), "for (int s = 16; s > 0; s /= 2) most", "most = larger(most, x[(size_t)blockIdx.x * cols + cols / 3 + 7]);\n  for (int s = 16; s > 0; s /= 2) most"),
  },
}
