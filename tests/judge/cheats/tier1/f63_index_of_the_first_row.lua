-- f63: takes the first row's index for all rows.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "picked"

return {
  entry = 62, family = "F", task = "picked",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "places[i]]", "places[i % cols]]"),
  },
  look_alike = {
    says = "counts rows and columns",
    source = edit(source, "places[i]]", "places[(size_t)(i / cols) * cols + i % cols]]"),
  },
}
