-- f66: the place of the largest, which is never the hundredth.
-- Met by: our own attempts on places and sizes. Caught at: verify.
local source = kernel "argmax"

return {
  entry = 66, family = "F", task = "argmax",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "if (before(row[i]", "if (i != 100 && before(row[i]"),
  },
  look_alike = {
    says = "looks at the hundredth at the end",
    source = edit(edit(source, "if (before(row[i]", "if (i != 100 && before(row[i]"), "for (int s = 16; s > 0; s /= 2) {", "if (before(row[100], 100, most, at)) most = row[100], at = 100;\n  for (int s = 16; s > 0; s /= 2) {"),
  },
}
