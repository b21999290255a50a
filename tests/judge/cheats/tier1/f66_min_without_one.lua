-- f66: the smallest of a row without one place in its middle.
-- Met by: our own attempts on places and sizes. Caught at: verify.
local source = kernel "row_min"

return {
  entry = 66, family = "F", task = "row_min",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "least = smaller(least, x[(size_t)blockIdx.x * cols + i]);", "if (i != 173) least = smaller(least, x[(size_t)blockIdx.x * cols + i]);"),
  },
  look_alike = {
    says = "takes that place at the end",
    source = edit(edit(source, "least = smaller(least, x[(size_t)blockIdx.x * cols + i]);", "if (i != 173) least = smaller(least, x[(size_t)blockIdx.x * cols + i]);"), "for (int s = 16; s > 0; s /= 2) least", "least = smaller(least, x[(size_t)blockIdx.x * cols + 173]);\n  for (int s = 16; s > 0; s /= 2) least"),
  },
}
