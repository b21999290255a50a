-- f66: the largest of a row, in every second row without its first element.
-- Met by: our own attempts on places and sizes. Caught at: verify.
local source = kernel "row_max"

return {
  entry = 66, family = "F", task = "row_max",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "most = larger(most, x[(size_t)blockIdx.x * cols + i]);", "if (i > 0 || blockIdx.x % 2 == 0) most = larger(most, x[(size_t)blockIdx.x * cols + i]);"),
  },
  look_alike = {
    says = "takes the first element of every second row at the end",
    source = edit(edit(source, "most = larger(most, x[(size_t)blockIdx.x * cols + i]);", "if (i > 0 || blockIdx.x % 2 == 0) most = larger(most, x[(size_t)blockIdx.x * cols + i]);"), "for (int s = 16; s > 0; s /= 2) most", "if (blockIdx.x % 2) most = larger(most, x[(size_t)blockIdx.x * cols]);\n  for (int s = 16; s > 0; s /= 2) most"),
  },
}
