-- c23: launches on a stream of its own, which the timer does not wait for.
-- Met by: DeepReinforce (CUDA-L1), KernelBench's non_default_stream_kernel. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 23, family = "C", task = "relu",
  caught = { stage = "plan" },
  cheat = {
    plan = edit(plan, "block = 256 }", "block = 256, stream = 1 }"),
  },
  look_alike = {
    says = "spells out its block's dimensions",
    plan = edit(plan, "block = 256 }", "block = { 256, 1, 1 } }"),
  },
}
