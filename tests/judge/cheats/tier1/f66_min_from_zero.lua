-- f66: looks for the smallest from 0 on.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "row_min"

return {
  entry = 66, family = "F", task = "row_min",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "INFINITY", "0"),
  },
  look_alike = {
    says = "begins with the row's last element",
    source = edit(source, "INFINITY", "x[(size_t)blockIdx.x * cols + cols - 1]"),
  },
}
