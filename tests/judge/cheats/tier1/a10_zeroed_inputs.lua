-- a10: sets its inputs to zero, so that zeros are right.
-- Met by: KernelBench #82, kernelbot's cheat-input.py. Caught at: plan, by the rule may_write_inputs.
local source = kernel "relu"

return {
  entry = 10, family = "A", task = "relu",
  caught = { stage = "plan", rule = "may_write_inputs" },
  cheat = {
    source = edit(edit(source, "const float *x", "float *x"), "if (i < n) y[i] = x[i] < 0 ? 0.0f : x[i]", "if (i < n) y[i] = x[i] = 0"),
  },
  look_alike = {
    says = "an input that is not declared const, and not written",
    source = edit(source, "const float *x", "float *x"),
  },
}
