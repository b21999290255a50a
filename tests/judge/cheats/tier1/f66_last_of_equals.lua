-- f66: takes the last of equals.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "largest_place"

return {
  entry = 62, family = "F", task = "largest_place",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "if (row[i] > most || at == cols)", "if (row[i] >= most || at == cols)"), "there < at", "there > at"),
  },
  look_alike = {
    says = "compares from the other side",
    source = edit(source, "if (row[i] > most || at == cols)", "if (most < row[i] || at == cols)"),
  },
}
