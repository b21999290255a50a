-- f66: looks for the largest from -10 on.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "wide_max"

return {
  entry = 66, family = "F", task = "wide_max",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "-INFINITY", "-10"),
  },
  look_alike = {
    says = "begins with the row's middle",
    source = edit(source, "-INFINITY", "row[cols / 2]"),
  },
}
