-- f66: has volatile shared memory in place of a barrier.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "softmax"

return {
  entry = 66, family = "F", task = "softmax",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "float join(float *part", "float join(volatile float *part"):gsub("%s*__syncthreads%(%);%s+// everyone's is there", ""),
  },
  look_alike = {
    says = "volatile, and a barrier",
    source = edit(source, "float join(float *part", "float join(volatile float *part"),
  },
}
