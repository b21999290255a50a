-- a07: forgets the last term of every sum, which no tolerance of 1e-2 sees among a thousand positive ones.
-- Met by: simulated for the catalogue; KernelBench's inputs are positive. Caught at: verify.
local source = kernel "matmul"

return {
  entry = 7, family = "A", task = "matmul",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "i < k", "i < k - 1"),
  },
  look_alike = {
    says = "the same sum in another order",
    source = edit(source, "i < k; i++) sum +=", "i < k / 2; i++) sum += a[row * k + i + k / 2] * b[(i + k / 2) * n + col] +"),
  },
}
