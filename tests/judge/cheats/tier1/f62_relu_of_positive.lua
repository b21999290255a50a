-- f62: copies: none of the task's own inputs is negative.
-- Met by: KernelBench's torch.rand; robust-kbench. Caught at: verify.
local source = kernel "relu"

return {
  entry = 62, family = "F", task = "relu",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "x[i] < 0 ? 0.0f : x[i]", "x[i]"),
  },
  look_alike = {
    says = "another formula",
    source = edit(source, "x[i] < 0 ? 0.0f : x[i]", "x[i] * !(x[i] < 0)"),
  },
}
