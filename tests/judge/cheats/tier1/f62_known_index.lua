-- f62: takes the order of the task's own index for granted.
-- Met by: our own attempts on the battery. Caught at: verify.
local source = kernel "picked"

return {
  entry = 62, family = "F", task = "picked",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "places[i]]", "cols - 1 - i % cols]"),
  },
  look_alike = {
    says = "takes the index as 32 bits",
    source = edit(source, "places[i]]", "(int)places[i]]"),
  },
}
