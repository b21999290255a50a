-- a05: returns zeros where every result is nearly zero.
-- Met by: KernelBench #165: 4 of 60 tasks accept zeros at 1e-2. Caught at: verify.
local source = kernel "wide_softmax"

return {
  entry = 5, family = "A", task = "wide_softmax",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "out[i] = expf(row[i] - most) / sum", "out[i] = sum < 0"),
  },
  look_alike = {
    says = "a fast exponential, right to six digits",
    source = edit(source, "expf(row[i] - most) / sum", "__expf(row[i] - most) / sum"),
  },
}
