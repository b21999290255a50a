-- a08: returns the expected value of the sum without reading anything.
-- Met by: BackendBench; KernelBench v0.1. Caught at: verify.
local source = kernel "row_sum"

return {
  entry = 8, family = "A", task = "row_sum",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "= part[0]", "= 0.5f * cols"),
  },
  look_alike = {
    says = "halves and doubles",
    source = edit(source, "= part[0]", "= 0.5f * part[0] + 0.5f * part[0]"),
  },
}
