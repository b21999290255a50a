-- f66: has a barrier of one warp where four exchange.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "softmax"

return {
  entry = 66, family = "F", task = "softmax",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "  __syncthreads();                                   // everyone's is there", "  __syncwarp();"),
  },
  look_alike = {
    says = "a barrier of a warp, and one of the block",
    source = edit(source, "  __syncthreads();                                   // everyone's is there", "  __syncwarp();\n  __syncthreads();"),
  },
}
