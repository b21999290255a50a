-- f66: the largest of a long row without the first element of one of its blocks.
-- Met by: our own attempts on places and sizes. Caught at: verify.
local source = kernel "wide_max"

return {
  entry = 66, family = "F", task = "wide_max",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "most = larger(most, row[i]);", "if (i != 4096) most = larger(most, row[i]);"),
  },
  look_alike = {
    says = "takes that element at the end",
    source = edit(edit(source, "most = larger(most, row[i]);", "if (i != 4096) most = larger(most, row[i]);"), "for (int s = 16; s > 0; s /= 2) most", "most = larger(most, row[4096]);\n  for (int s = 16; s > 0; s /= 2) most"),
  },
}
