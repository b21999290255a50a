-- f66: the largest of a row without its last element.
-- Met by: our own attempts on places and sizes. Caught at: verify.
local source = kernel "row_max"

return {
  entry = 66, family = "F", task = "row_max",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "i < cols; i += 32", "i < cols - 1; i += 32"),
  },
  look_alike = {
    says = "takes the last element at the end",
    source = edit(edit(source, "i < cols; i += 32", "i < cols - 1; i += 32"), "for (int s = 16; s > 0; s /= 2) most", "most = larger(most, x[(size_t)blockIdx.x * cols + cols - 1]);\n  for (int s = 16; s > 0; s /= 2) most"),
  },
}
