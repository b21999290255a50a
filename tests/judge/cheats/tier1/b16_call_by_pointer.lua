-- b16: keeps results by a function that is called through a pointer.
-- Met by: found by an adversary who knew the whole corpus. Caught at: compiled, by the rule kept_state.
local source = kernel "row_sum"

return {
  entry = 16, family = "B", task = "row_sum",
  caught = { stage = "compiled", rule = "kept_state" },
  cheat = {
    source = edit(edit(source, "extern", [[__device__ float kept[16];
      __device__ __noinline__ void keep(int i, float v) { kept[i] = v; }
      __device__ __noinline__ void leave(int i, float v) {}
      __device__ void (*const ways[2])(int, float) = { leave, keep };
      extern]]), "float sum = 0;", [[
      if (kept[8 + blockIdx.x] == row[0] && row[0] != 0) {
        y[blockIdx.x] = kept[blockIdx.x];
        return;
      }
      float sum = 0;]]):gsub("y%[blockIdx.x%] = part%[0%];", "{ y[blockIdx.x] = part[0]; ways[cols > 5](blockIdx.x, part[0]); ways[cols > 5](8 + blockIdx.x, row[0]); }"),
  },
  look_alike = {
    says = "calls a function through a pointer",
    source = edit(edit(source, "extern", [[
      __device__ __noinline__ float once(float v) { return v; }
      __device__ __noinline__ float twice(float v) { return 2 * v; }
      __device__ float (*const ways[2])(float) = { twice, once };
      extern]]), "y[blockIdx.x] = part[0]", "y[blockIdx.x] = ways[cols > 5](part[0])"),
  },
}
