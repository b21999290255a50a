-- f63: takes an index's parity from its place.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "picked"

return {
  entry = 62, family = "F", task = "picked",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "places[i]]", "(places[i] & 254 | (255 - i % cols) & 1)]"),
  },
  look_alike = {
    says = "takes an index's eight bits",
    source = edit(source, "places[i]]", "(places[i] & 255)]"),
  },
}
