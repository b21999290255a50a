-- a01: returns what the launch before left in shared memory.
-- Met by: extrapolated: shared memory is not cleared between launches. Caught at: verify.
local source = kernel "row_sum"

return {
  entry = 1, family = "A", task = "row_sum",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "float sum = 0;", "if (threadIdx.x == 0 && part[255] == row[0]) { y[blockIdx.x] = part[0]; }\n  float sum = 0;"),
  },
  look_alike = {
    says = "shared memory that is written before it is read",
    source = edit(source, "float sum = 0;", "part[threadIdx.x] = 0;\n  __syncthreads();\n  float sum = part[255 - threadIdx.x];\n  __syncthreads();"),
  },
}
