-- b16: keeps results, beside groups of threads from the toolkit's headers.
-- Met by: found by an adversary who knew the whole corpus. Caught at: compiled, by the rule kept_state.
local source = kernel "row_sum"

return {
  entry = 16, family = "B", task = "row_sum",
  caught = { stage = "compiled", rule = "kept_state" },
  cheat = {
    source = [[#include <cooperative_groups.h>
      __device__ float kept[16];
      ]] .. edit(source, "float sum = 0;", [[
      cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
      block.sync();
      if (kept[8 + blockIdx.x] == row[0] && row[0] != 0) {
        y[blockIdx.x] = kept[blockIdx.x];
        return;
      }
      float sum = 0;]]):gsub("y%[blockIdx.x%] = part%[0%];", "y[blockIdx.x] = kept[blockIdx.x] = part[0], kept[8 + blockIdx.x] = row[0];"),
  },
  look_alike = {
    says = "adds up with groups of threads from the toolkit's headers",
    source = [[#include <cooperative_groups.h>
      #include <cooperative_groups/reduce.h>
      namespace cg = cooperative_groups;
      extern "C" __global__ void row_sum(float *y, const float *x, int cols) {
        __shared__ float part[8];
        cg::thread_block block = cg::this_thread_block();
        cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
        const float *row = x + (size_t)blockIdx.x * cols;
        float sum = 0;
        for (int i = block.thread_rank(); i < cols; i += block.size()) sum += row[i];
        sum = cg::reduce(warp, sum, cg::plus<float>());
        if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = sum;
        block.sync();
        if (block.thread_rank() > 0) return;
        sum = 0;
        for (int i = 0; i < 8; i++) sum += part[i];
        y[blockIdx.x] = sum;
      }
    ]],
  },
}
