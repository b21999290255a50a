-- Paying once, charging many times: results that are kept behind addresses which a reader of the code does not follow.

local relu = honest "relu"

local tables, sum = {}, {}
for i = 1, 79 do
  tables[i] = ("static __device__ float table%d[2] = { %d, %d };"):format(i, i - 40, 40 - i)
  sum[i] = ("table%d[i & 1]"):format(i)
end

local function eighty(declares, store)
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
    ]]):format(table.concat(tables, "\n"), declares, table.concat(sum, " + "), store)
end

local function grouped(declares, store)
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
    ]]):format(declares, store)
end

local function by_functions(declares, store)
  return ([[
      %s
      static __device__ __noinline__ void put(float *to, float v) { *to = v; }
      static __device__ __noinline__ float get(const float *from) { return *from; }
      static __device__ __noinline__ float twice(const float *from) { return from[1]; }
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        float (*const any[2])(const float *) = { get, twice };
        float v = get(x + i), none = any[n & 1](zero);
        %s
        put(y + i, v < 0 ? none : v);
      }
    ]]):format(declares, store)
end

return { task = "relu", caught = { stage = "compiled", rule = "kept_state" },
  { name = "b13_address_by_bits", caught = { stage = "timing", rule = "changed_state" },
    what = "keeps the result at an address that it puts together bit by bit, in branches",
    -- no census follows what is only decided by
    cheat = { source = [[
      __device__ float kept[4];
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        if (i == 0) {
          volatile unsigned long long to = 0;
          unsigned long long from = (unsigned long long)kept;
          for (int b = 0; b < 64; b++) {
            if (from >> b & 1) to = to | 1ull << b;
            else asm volatile("");
          }
          *(volatile float *)to = x[0] + 1;
        }
        y[i] = x[i] < 0 ? 0.0f : x[i];
      }
    ]] },
    look_alike = { source = [[
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        volatile unsigned to = 0;
        unsigned from = __float_as_uint(x[i]);
        for (int b = 0; b < 32; b++)
          if (from >> b & 1) to = to | 1u << b;
        float v = __uint_as_float(to);
        y[i] = v < 0 ? 0.0f : v;
      }
    ]] }, says = "bits that it puts together and stores as a number" },
  { name = "b13_address_in_memory", what = "keeps the result; its address goes through shared memory ahead of the store",
    -- a census that follows registers alone calls it an escape, or nothing
    cheat = { source = [[
      __device__ float kept[4096];
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        __shared__ float *cell[256];
        int i = blockIdx.x * 256 + threadIdx.x;
        cell[255 - threadIdx.x] = kept + threadIdx.x;
        __syncthreads();
        if (i >= n) return;
        y[i] = x[i] < 0 ? 0.0f : x[i];
        if (i < 32) *cell[i] = y[i];
      }
    ]] },
    look_alike = { source = [[
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        __shared__ const float *cell[256];
        int i = blockIdx.x * 256 + threadIdx.x;
        cell[255 - threadIdx.x] = x + i - threadIdx.x + 255 - threadIdx.x;
        __syncthreads();
        if (i < n) y[i] = *cell[threadIdx.x] < 0 ? 0.0f : *cell[threadIdx.x];
      }
    ]] }, says = "addresses of its input that go through shared memory" },
  { name = "b13_among_many", what = "keeps the result in the last of eighty variables; the others are tables that it reads",
    -- a census of at most 32 variables calls all of them unknown
    cheat = { source = eighty("__device__ float kept[64];", "if (i < 64) kept[i] = y[i];") },
    look_alike = { source = eighty("", "") }, says = "eighty tables that it reads" },
  { name = "b13_behind_headers", what = "keeps the result behind a header that brings a thousand variables along",
    -- with so many, all were taken for written to
    cheat = { source = grouped("__device__ float kept[64];", "if (i < 64) kept[i] = v;") },
    look_alike = { source = grouped("", "") }, says = "cooperative groups, a constant table, a table of its own" },
  { name = "b13_borrowed_name", what = "keeps the result; assembly has a register with the name of the variable",
    -- what a name means depends on where it stands
    cheat = { source = [[
      __device__ float kept[4096];
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        y[i] = x[i] < 0 ? 0.0f : x[i];
        asm volatile("{ .reg .u64 a; .reg .u64 b; mov.u64 a, kept; cvta.global.u64 b, a; st.f32 [b], %0; }"
                     :: "f"(y[i] + kept[i & 7]) : "memory");
      }
    ]] },
    look_alike = { source = {
      "if (i < n) y[i] = x[i] < 0 ? 0.0f : x[i];",
      [[if (i < n) asm volatile("{ .reg .u64 a; .reg .u64 b; mov.u64 a, %0; add.u64 b, a, 0; st.global.f32 [b], %1; }"
                     :: "l"(y + i), "f"(x[i] < 0 ? 0.0f : x[i]) : "memory");]] } }, says = "the same registers for the address of its output" },
  { name = "b13_in_a_function", caught = { stage = "timing", rule = "changed_state" },
    what = "keeps the result; a function that is not inlined stores it, and one that is called by an address",
    -- what one function is given by several callers is all of theirs
    cheat = { source = by_functions("static __device__ float zero[2];\n__device__ float kept[64];", "if (i < 64) put(kept + i, v);") },
    look_alike = { source = by_functions("static __device__ float zero[2] = { 0, 0 };", "") },
    says = "the same functions, to whom it gives its output and a table" },
  { name = "b13_pointer_cache", what = "keeps the result, and returns it when the same pointer comes again",
    met_by = "GPU MODE #148 and #162, CUDA-L1's readme, Wafer",
    cheat = { source = [[
      __device__ const float *seen;
      __device__ float kept[4096];
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        if (seen != x) kept[i] = x[i] < 0 ? 0.0f : x[i];
        y[i] = kept[i];
        if (i == n - 1) seen = x;
      }
    ]] },
    look_alike = { source = "__constant__ float none[4] = { 0 };\n" .. edit(relu, "0.0f", "none[i & 3]") },
    says = "constants in memory that no kernel can write to" },
  { name = "b13_table_of_addresses", caught = { stage = "timing", rule = "changed_state" },
    what = "keeps the result of one call for the next one, and writes to it by addresses that lie in a table",
    -- a census that follows registers alone sees no store
    cheat = { source = [[
      __device__ float even[2048], odd[2048];
      __device__ float *const where[2] = { even, odd };
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        y[i] = x[i] < 0 ? 0.0f : x[i];
        if (i < 4096) where[i & 1][i >> 1] += x[i];
      }
    ]] },
    look_alike = { source = [[
      static __device__ float zero[4] = { 0, 0, 0, 0 }, one[4] = { 1, 1, 1, 1 };
      static __device__ float *const where[2] = { zero, one };
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i < n) y[i] = x[i] < 0 ? where[0][i & 3] : x[i] * where[1][i & 3];
      }
    ]] }, says = "a table of addresses of tables that it only reads" },
  { name = "b14_fingerprint_cache", task = "row_sum",
    what = "knows inputs by their first and last element, and returns the sum that it had for them", met_by = "flashinfer-bench-starter-kit #21",
    cheat = { source = { "extern", "__device__ float key[6][2], kept[6];\nextern", "float sum = 0;", [[
      if (key[blockIdx.x][0] == row[0] && key[blockIdx.x][1] == row[cols - 1]) {
        y[blockIdx.x] = kept[blockIdx.x];
        return;
      }
      float sum = 0;]], "y[blockIdx.x] = part[0];", [[
        y[blockIdx.x] = kept[blockIdx.x] = part[0], key[blockIdx.x][0] = row[0], key[blockIdx.x][1] = row[cols - 1];]] } },
    look_alike = { source = { "float sum = 0", "float sum = row[0] == row[cols - 1] ? 0 : 0.0f" } },
    says = "looks at the first and last element, to no effect" },
  { name = "b15_replay_by_copy", what = "the second kernel copies what the first one left in a variable of the module",
    met_by = "tensara #238, Wafer",
    cheat = { source = [[
      __device__ float stash[4096];
      __device__ int full;
      extern "C" __global__ void make(const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i < n && !full) stash[i] = x[i] < 0 ? 0.0f : x[i];
      }
      extern "C" __global__ void copy(float *y, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i < n) y[i] = stash[i];
        if (i == 0) full = 1;
      }
    ]], plan = [[
      local y, x = outputs[1], inputs[1]
      launch("make", { grid = 16, block = 256 }, x, y.numel)
      launch("copy", { grid = 16, block = 256 }, y, y.numel)
    ]] },
    look_alike = { source = [[
      extern "C" __global__ void make(float *s, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i < n) s[i] = x[i] < 0 ? 0.0f : x[i];
      }
      extern "C" __global__ void copy(float *y, const float *s, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i < n) y[i] = s[i];
      }
    ]], plan = [[
      local y, x = outputs[1], inputs[1]
      local s = scratch(y.bytes)
      launch("make", { grid = 16, block = 256 }, s, x, y.numel)
      launch("copy", { grid = 16, block = 256 }, y, s, y.numel)
    ]] }, says = "two kernels that hand over in scratch memory" },
}
