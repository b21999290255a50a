-- a11: keeps exponentials in its input and puts the input back afterwards.
-- Met by: extrapolated; inputs that are reused corrupt later calls. Caught at: plan, by the rule may_write_inputs.
local source, plan = kernel "softmax"

return {
  entry = 11, family = "A", task = "softmax",
  caught = { stage = "plan", rule = "may_write_inputs" },
  cheat = {
    source = edit(edit(source, "const float *x, int cols", "float *x, int cols"), "float sum = 0;",
      "float sum = 0, was = x[blockIdx.x * cols]; x[blockIdx.x * cols] = 1; __syncthreads(); x[blockIdx.x * cols] = was;"),
  },
  look_alike = {
    says = "keeps numbers in scratch memory",
    source = edit(edit(source, "int cols) {", "int cols, float *tmp) {"), "/ sum;", "/ sum, tmp[blockIdx.x] = sum;"),
    plan = edit(plan, "x.shape[2])", "x.shape[2], scratch{ shape = { x.shape[1] } })"),
  },
}
