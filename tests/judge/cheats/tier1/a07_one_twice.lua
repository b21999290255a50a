-- a7: takes one element of half a million twice in place of its neighbour.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "long_sum"

return {
  entry = 7, family = "A", task = "long_sum",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "row[i]", "row[i == 300001 ? 300000 : i]"),
  },
  look_alike = {
    says = "changes two elements' places",
    source = edit(source, "row[i]", "row[i == 300001 ? 300000 : i == 300000 ? 300001 : i]"),
  },
}
