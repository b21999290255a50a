-- f64: takes its input for contiguous.
-- Met by: SOL-ExecBench keeps strides; others do not test them. Caught at: verify.
local source = kernel "transposed"

return {
  entry = 64, family = "F", task = "transposed",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "x[blockIdx.x * down + i * across]", "x[blockIdx.x * cols + i]"),
  },
  look_alike = {
    says = "another order of the same address",
    source = edit(source, "x[blockIdx.x * down + i * across]", "x[(size_t)i * across + blockIdx.x * down]"),
  },
}
