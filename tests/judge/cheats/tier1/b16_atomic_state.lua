-- b16: keeps results by atomic exchanges on an address that was loaded.
-- Met by: found by an adversary who knew the whole corpus. Caught at: timing, by the rule changed_state.
local source, plan = kernel "row_sum"

return {
  entry = 16, family = "B", task = "row_sum",
  caught = { stage = "timing", rule = "changed_state" },
  cheat = {
    source = edit(edit(source, "extern", [[__device__ float memory[16];
      __device__ float *where[2] = { memory, memory };
      extern]]), "float sum = 0;", [[
      float *kept = where[cols & 1];
      if (kept[8 + blockIdx.x] == row[0] && row[0] != 0) {
        y[blockIdx.x] = kept[blockIdx.x];
        return;
      }
      float sum = 0;]]):gsub("y%[blockIdx.x%] = part%[0%];", "y[blockIdx.x] = part[0], atomicExch(where[cols & 1] + blockIdx.x, part[0]), atomicExch(where[cols & 1] + 8 + blockIdx.x, row[0]);"),
  },
  look_alike = {
    says = "adds up by atomics within a call",
    source = edit(source, "y[blockIdx.x] = part[0]", "atomicAdd(y + blockIdx.x, part[0])"),
    plan = "memset(outputs[1])\n" .. plan,
  },
}
