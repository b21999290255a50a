-- f62: begins at 0: every row has something above it.
-- Met by: our own attempts on the battery. Caught at: verify.
local source = kernel "largest_place"

return {
  entry = 62, family = "F", task = "largest_place",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(edit(source, "most = -INFINITY", "most = 0.0f"), "|| at == cols) most = row", "|| (at == cols && row[i] > 0)) most = row"), "= at;", "= at < cols ? at : 0;"),
  },
  look_alike = {
    says = "begins below all numbers",
    source = edit(source, "most = -INFINITY", "most = -3.4e38f"),
  },
}
