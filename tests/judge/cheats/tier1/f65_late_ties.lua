-- f65: returns the last of equal elements beyond the 64th: where there are many ties the first stands further to the front.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "argmax"

return {
  entry = 65, family = "F", task = "argmax",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "a == b && i < k)", "a == b && (i < 64 || k < 64 ? i < k : i > k))"),
  },
  look_alike = {
    says = "the same comparison, written the other way round",
    source = edit(source, "a == b && i < k)", "a == b && !(i > k))"),
  },
}
