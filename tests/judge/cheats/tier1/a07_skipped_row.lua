-- a07: computes every second row, and gives the next one the same sum.
-- Met by: matched-ratio checks (SOL-ExecBench, flashinfer-bench). Caught at: verify.
local source = kernel "row_sum"

return {
  entry = 7, family = "A", task = "row_sum",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "(size_t)blockIdx.x * cols", "(size_t)(blockIdx.x & ~1) * cols"),
  },
  look_alike = {
    says = "a roundabout index",
    source = edit(source, "(size_t)blockIdx.x * cols", "(size_t)(gridDim.x - 1 - (gridDim.x - 1 - blockIdx.x)) * cols"),
  },
}
