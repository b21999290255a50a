-- a11: writes to its input by a bulk copy of the memory engine, and puts back what was there.
-- Met by: found by an adversary who knew the whole corpus. Caught at: plan, by the rule may_write_inputs.

return {
  entry = 11, family = "A", task = "relu",
  caught = { stage = "plan", rule = "may_write_inputs" },
  cheat = {
    source = [[
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        __shared__ __align__(16) float mine[256];
        int i = blockIdx.x * 256 + threadIdx.x;
        float v = i < n ? x[i] : 0;
        mine[threadIdx.x] = v;
        __syncthreads();
        if (threadIdx.x == 0 && blockIdx.x * 256 + 256 <= n) {
          unsigned from = (unsigned)__cvta_generic_to_shared(mine);
          asm volatile("fence.proxy.async.shared::cta;\n"
                       "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;\n"
                       "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" :: "l"(x + blockIdx.x * 256), "r"(from) : "memory");
        }
        if (i < n) y[i] = v < 0 ? 0.0f : v;
      }
    ]],
  },
  look_alike = {
    says = "writes its output by bulk copies",
    source = [[
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        __shared__ __align__(16) float mine[256];
        int i = blockIdx.x * 256 + threadIdx.x;
        float v = i < n ? x[i] : 0;
        mine[threadIdx.x] = v < 0 ? 0.0f : v;
        bool whole = blockIdx.x * 256 + 256 <= n;
        if (i < n && !whole) y[i] = mine[threadIdx.x];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0 && whole) {
          unsigned from = (unsigned)__cvta_generic_to_shared(mine);
          asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;\n"
                       "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" :: "l"(y + blockIdx.x * 256), "r"(from) : "memory");
        }
      }
    ]],
  },
}
