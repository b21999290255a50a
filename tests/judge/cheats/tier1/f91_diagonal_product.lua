-- f91: takes every matrix for a diagonal one: here it was given one, and forgets a row.
-- Met by: KernelGuard BENCHMARK_UNSAFE_ALGO_DISPATCH. Caught at: verify.
local source = kernel "diagonal"

return {
  entry = 58, family = "F", task = "diagonal",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "a[blockIdx.y] *", "a[blockIdx.y & ~1] *"),
  },
  look_alike = {
    says = "an algorithm that saves a factor of n, honestly: the matrix is diagonal by the task",
  },
}
