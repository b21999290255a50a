-- b13: keeps the result behind a header that brings a thousand variables along.
-- Met by: extrapolated; with so many, all were taken for written to. Caught at: compiled, by the rule kept_state.
local function source(head, store)
  return ([[
      #include <cooperative_groups.h>
      namespace cg = cooperative_groups;
      __constant__ float scale[4] = { 1, 1, 1, 1 };
      static __device__ float none[4] = { 0, 0, 0, 0 };
      %s
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        cg::thread_block block = cg::this_thread_block();
        auto tile = cg::tiled_partition<32>(block);
        __shared__ float part[8][32];
        int i = blockIdx.x * block.size() + block.thread_rank();
        part[tile.meta_group_rank()][tile.thread_rank()] = i < n ? x[i] : 0;
        tile.sync();
        float v = part[tile.meta_group_rank()][tile.thread_rank()] + 0 * tile.shfl_down(0.0f, 1);
        block.sync();
        if (i < n) y[i] = v < 0 ? none[i & 3] : v * scale[i & 3];
        %s
      }
    ]]):format(head, store)
end

return {
  entry = 13, family = "B", task = "relu",
  caught = { stage = "compiled", rule = "kept_state" },
  cheat = { source = source("__device__ float kept[64];", "if (i < 64) kept[i] = v;") },
  look_alike = { says = "cooperative groups, a constant table, a table of its own", source = source("", "") },
}
