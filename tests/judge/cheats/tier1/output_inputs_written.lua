-- Inputs that are written to: so that an easy result is right, or as memory that costs nothing.

local _, plan = honest "relu"

return { task = "relu", caught = { stage = "plan", rule = "may_write_inputs" },
  { name = "a10_zeroed_inputs", what = "sets its inputs to zero, so that zeros are right", met_by = "KernelBench #82, kernelbot's cheat-input.py",
    cheat = { source = { "const float *x", "float *x", "if (i < n) y[i] = x[i] < 0 ? 0.0f : x[i]", "if (i < n) y[i] = x[i] = 0" } },
    look_alike = { source = { "const float *x", "float *x" } }, says = "an input that is not declared const, and not written" },
  { name = "a11_bulk_copy", what = "writes to its input by a bulk copy of the memory engine, and puts back what was there",
    cheat = { source = [[
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
    ]] },
    look_alike = { source = [[
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
    ]] }, says = "writes its output by bulk copies" },
  { name = "a11_input_as_scratch", task = "softmax", what = "keeps exponentials in its input and puts the input back afterwards",
    -- inputs that are reused corrupt later calls
    cheat = { source = {
      "const float *x, int cols", "float *x, int cols",
      "float sum = 0;", "float sum = 0, was = x[blockIdx.x * cols]; x[blockIdx.x * cols] = 1; __syncthreads(); x[blockIdx.x * cols] = was;" } },
    look_alike = { source = { "int cols) {", "int cols, float *tmp) {", "/ sum;", "/ sum, tmp[blockIdx.x] = sum;" },
      plan = { "x.shape[2])", "x.shape[2], scratch{ shape = { x.shape[1] } })" } },
    says = "keeps numbers in scratch memory" },
  { name = "a11_input_by_table", what = "writes to its input through an address that it took from a table",
    -- the same as a11_input_as_scratch, out of a census's sight
    cheat = { source = [[
      extern "C" __global__ void relu(float *y, float *x, int n) {
        __shared__ float *cell[256];
        int i = blockIdx.x * 256 + threadIdx.x;
        cell[threadIdx.x ^ 1] = x + (i ^ 1);
        __syncthreads();
        if (i >= n) return;
        volatile float *mine = cell[threadIdx.x];
        float was = *mine;
        *mine = was + 1;
        y[i] = was < 0 ? 0.0f : was;
        *mine = was;
      }
    ]] },
    look_alike = { source = [[
      struct both { const float *from; float *to; };
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        __shared__ both cell[256];
        int i = blockIdx.x * 256 + threadIdx.x;
        cell[threadIdx.x ^ 1].from = x + (i ^ 1), cell[threadIdx.x ^ 1].to = y + (i ^ 1);
        __syncthreads();
        both mine = cell[threadIdx.x];
        if (i < n) *mine.to = *mine.from < 0 ? 0.0f : *mine.from;
      }
    ]] }, says = "a table of what it reads, and one of where it writes" },
  { name = "a11_memset_of_an_input", caught = { stage = "plan" }, what = "clears an input when it has been read",
    cheat = { plan = plan .. "memset(view(inputs[1], { shape = { 1 } }))\n" },
    look_alike = { plan = "memset(outputs[1])\n" .. plan }, says = "clears the output first" },
  { name = "a11_shared_pointer",
    what = "hands the input's address through shared memory, uses the input as scratch, and puts back what was there",
    cheat = { source = [[
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        __shared__ volatile float *to[2];
        if (threadIdx.x == 0) to[0] = y, to[1] = (float *)x;
        __syncthreads();
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        float v = x[i];
        to[1][i] = v < 0 ? 0.0f : v;
        to[0][i] = to[1][i];
        to[1][i] = v;
      }
    ]] },
    look_alike = { source = [[
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        __shared__ float *to[1];
        if (threadIdx.x == 0) to[0] = y;
        __syncthreads();
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i < n) to[0][i] = x[i] < 0 ? 0.0f : x[i];
      }
    ]] }, says = "hands the output's address through shared memory" },
  { name = "a11_table_of_pointers", caught = { stage = "run" },
    what = "keeps the input's address in a table, uses the input as scratch through it, and puts back what was there",
    cheat = { source = [[
      extern "C" __global__ void fill(float **table, float *y, const float *x, int n) { table[0] = y; table[1] = (float *)x; }
      extern "C" __global__ void relu(float *const *table, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        volatile float *x = table[1];
        float v = x[i];
        x[i] = v < 0 ? 0.0f : v;
        table[0][i] = x[i];
        x[i] = v;
      }
    ]], plan = [[
      local y, x, table = outputs[1], inputs[1], scratch(16)
      launch("fill", { grid = 1, block = 1 }, table, y, x, y.numel)
      launch("relu", { grid = (y.numel + 255) // 256, block = 256 }, table, y.numel)
    ]] },
    look_alike = { source = [[
      extern "C" __global__ void fill(float **table, float *y) { table[0] = y; }
      extern "C" __global__ void relu(float *const *table, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i < n) table[0][i] = x[i] < 0 ? 0.0f : x[i];
      }
    ]], plan = [[
      local y, x, table = outputs[1], inputs[1], scratch(16)
      launch("fill", { grid = 1, block = 1 }, table, y)
      launch("relu", { grid = (y.numel + 255) // 256, block = 256 }, table, x, y.numel)
    ]] }, says = "has the output's address in a table" },
  { name = "a11_view_of_an_input", task = "matmul", caught = { stage = "plan" },
    what = "has a view of an input written by a library call, and brings the input back by another",
    cheat = { source = "// none",
    plan = [[
      local c, a, b = outputs[1], inputs[1], inputs[2]
      gemm{ a = a, b = b, c = c }
      gemm{ a = a, b = b, c = view(b, { shape = { a.shape[1], b.shape[2] } }), alpha = 0, beta = 1 }
    ]] },
    look_alike = { source = "// none",
    plan = [[
      local c, a, b = outputs[1], inputs[1], inputs[2]
      gemm{ a = view(a, { shape = a.shape }), b = b, c = c }
    ]] }, says = "views of inputs are read" },
}
