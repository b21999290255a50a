-- f66: has a fence in place of a barrier: it orders one thread's own accesses.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "softmax"

return {
  entry = 66, family = "F", task = "softmax",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "  __syncthreads();                                   // everyone's is there", "  __threadfence_block();"),
  },
  look_alike = {
    says = "a fence, and a barrier",
    source = edit(source, "  __syncthreads();                                   // everyone's is there", "  __threadfence_block();\n  __syncthreads();"),
  },
}
