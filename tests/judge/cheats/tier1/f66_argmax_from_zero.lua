-- f66: looks for the largest from 0 on, and for its place.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "argmax"

return {
  entry = 66, family = "F", task = "argmax",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "-INFINITY", "0"), "at = cols", "at = 0"),
  },
  look_alike = {
    says = "begins with the row's first element",
    source = edit(edit(source, "-INFINITY", "row[0]"), "at = cols", "at = 0"),
  },
}
