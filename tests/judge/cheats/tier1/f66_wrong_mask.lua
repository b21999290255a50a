-- f66: names half of the warp in a mask, and all of it takes part.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "row_max"

return {
  entry = 66, family = "F", task = "row_max",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "~0u", "0xffffu"),
  },
  look_alike = {
    says = "the mask of those that take part",
    source = edit(source, "~0u", "__ballot_sync(~0u, true)"),
  },
}
