-- f66: looks for the largest from 0 on: every row of the battery has a positive element.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "row_max"

return {
  entry = 66, family = "F", task = "row_max",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "-INFINITY", "0"),
  },
  look_alike = {
    says = "begins with the row's first element",
    source = edit(source, "-INFINITY", "x[(size_t)blockIdx.x * cols]"),
  },
}
