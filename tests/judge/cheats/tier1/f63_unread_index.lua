-- f63: knows that the indices are in order.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "gather"

return {
  entry = 63, family = "F", task = "gather",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "(size_t)index[blockIdx.x]", "(size_t)blockIdx.x"),
  },
  look_alike = {
    says = "reads the index once for each block",
    source = edit(source, "  for (int", "  __shared__ long long at;\n  if (threadIdx.x == 0) at = index[blockIdx.x];\n  __syncwarp();\n  for (int"):gsub("%(size_t%)index%[blockIdx.x%]", "(size_t)at"),
  },
}
