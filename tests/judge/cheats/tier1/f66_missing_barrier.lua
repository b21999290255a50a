-- f66: leaves out a barrier, and is right as long as warps happen to be in step.
-- Met by: Wafer's determinism check; racecheck. Caught at: verify.
local source = kernel "softmax"

return {
  entry = 66, family = "F", task = "softmax",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "  __syncthreads();                                   // everyone's is there", ""),
  },
  look_alike = {
    says = "a barrier too many",
    source = edit(source, "  __syncthreads();                                   // everyone's is there", "  __syncthreads();\n  __syncthreads();"),
  },
}
