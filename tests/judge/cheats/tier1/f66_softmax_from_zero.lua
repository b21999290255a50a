-- f66: looks for the largest of a row from 0 on: of rows far below 0 nothing is left.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "softmax"

return {
  entry = 66, family = "F", task = "softmax",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "most = -INFINITY", "most = 0"),
  },
  look_alike = {
    says = "begins with the row's first element",
    source = edit(source, "most = -INFINITY", "most = row[0]"),
  },
}
