-- b13: keeps the result in the last of eighty variables; the others are tables that it reads.
-- Met by: extrapolated; a census of at most 32 variables calls all of them unknown. Caught at: compiled, by the rule kept_state.
local tables, sum = {}, {}
for i = 1, 79 do
  tables[i] = ("static __device__ float table%d[2] = { %d, %d };"):format(i, i - 40, 40 - i)
  sum[i] = ("table%d[i & 1]"):format(i)
end

local function source(head, store)
  return ([[
      %s
      %s
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        float none = %s;
        y[i] = x[i] < 0 ? none : x[i];
        %s
      }
    ]]):format(table.concat(tables, "\n"), head, table.concat(sum, " + "), store)
end

return {
  entry = 13, family = "B", task = "relu",
  caught = { stage = "compiled", rule = "kept_state" },
  cheat = { source = source("__device__ float kept[64];", "if (i < 64) kept[i] = y[i];") },
  look_alike = { says = "eighty tables that it reads", source = source("", "") },
}
