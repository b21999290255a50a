-- b16: keeps results behind a pointer that a variable was made with.
-- Met by: found by an adversary who knew the whole corpus. Caught at: timing, by the rule changed_state.
local source = kernel "row_sum"

return {
  entry = 16, family = "B", task = "row_sum",
  caught = { stage = "timing", rule = "changed_state" },
  cheat = {
    source = edit(edit(source, "extern", [[__device__ float memory[16];
      __device__ float *where[2] = { memory, memory + 6 };
      extern]]), "float sum = 0;", [[
      float *key = where[cols & 1], *kept = where[(cols & 1) ^ 1];
      if (key[blockIdx.x] == row[0] && row[0] != 0) {
        y[blockIdx.x] = kept[blockIdx.x];
        return;
      }
      float sum = 0;]]):gsub("y%[blockIdx.x%] = part%[0%];", "y[blockIdx.x] = where[(cols & 1) ^ 1][blockIdx.x] = part[0], where[cols & 1][blockIdx.x] = row[0];"),
  },
  look_alike = {
    says = "a table of pointers to constants",
    source = edit(edit(source, "extern", [[__device__ const float one[2] = { 1, 1 }, two[2] = { 1, 1 };
      __device__ const float *const where[2] = { one, two };
      extern]]), "sum += row[i]", "sum += row[i] * where[i & 1][cols & 1]"),
  },
}
