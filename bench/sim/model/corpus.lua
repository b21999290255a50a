-- corpus: the kernels that the time model is held against. First the rungs of the ladders
-- on tasks of several sizes, then kernels written to load one unit each: `n` is the size
-- of any.py, whose inputs are n floats x and a permutation p, and whose output y has n
-- floats. Nothing here is judged, only timed and counted.

local M = {}

-- task, constants, and the versions that are left out: library calls have no kernel.
M.ladders = {
  { "gelu", { rows = 1024, cols = 2048 } }, { "gelu", { rows = 4096, cols = 8192 } },
  { "softmax", { rows = 512, cols = 2048 } }, { "softmax", { rows = 4096, cols = 4096 } },
  { "softmax", { rows = 64, cols = 16384 } },
  { "layernorm", { rows = 1024, cols = 2048 } }, { "layernorm", { rows = 4096, cols = 4096 } },
  { "row_sum", { rows = 2048, cols = 2048 } }, { "row_sum", { rows = 256, cols = 32768 } },
  { "column_sum", { batch = 8, rows = 512, cols = 511 } },
  { "column_max", { batch = 16, rows = 1024, cols = 1024 } },
  { "l2_norm", { rows = 2048, cols = 2048 } }, { "l1_norm", { rows = 512, cols = 16384 } },
  { "cumsum", { rows = 2048, cols = 2048 } }, { "cumprod", { rows = 512, cols = 16384 } },
  { "matmul", { m = 512, n = 256, k = 128 } }, { "matmul", { m = 1024, n = 1024, k = 1024 } },
  { "matmul", { m = 2048, n = 1024, k = 512 } },
  { "linear_gelu", { batch = 128, inputs = 256, outputs = 512 }, { v3_library = true, v4_epilogue = true } },
  { "linear_gelu", { batch = 512, inputs = 1024, outputs = 1024 }, { v3_library = true, v4_epilogue = true } },
  { "conv_relu", { batch = 4, in_channels = 16, out_channels = 32, size = 28 }, { v2_library = true } },
  { "conv_relu", { batch = 8, in_channels = 32, out_channels = 64, size = 56 }, { v2_library = true } },
}

local list = {}
M.kernels = list

local head = [[extern "C" __global__ void k(float *__restrict__ y, const float *__restrict__ x,
const int *__restrict__ p, int n) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
]]

-- One kernel over the grid that `launch` says: { grid =, block =, shared = } as Lua text.
local function add(class, name, n, launch, body, before)
  list[#list + 1] = { class = class, name = name, n = n, source = (before or "") .. head .. body .. "}\n",
    plan = ("local n = inputs[1].numel\nlaunch('k', { %s }, outputs[1], inputs[1], inputs[2], n)\n"):format(launch) }
end

local each = "grid = n // 256, block = 256"                 -- a thread for each element
local M1, M4, M16, M32 = 1 << 20, 1 << 22, 1 << 24, 1 << 25

-- ---- memory

for _, n in ipairs { M1, M4, M16, M32 } do
  add("stream", "copy_" .. n, n, each, "y[t] = x[t];")
  add("stream", "copy4_" .. n, n, "grid = n // 1024, block = 256",
    "reinterpret_cast<float4 *>(y)[t] = reinterpret_cast<const float4 *>(x)[t];")
end
add("stream", "read_only", M16, "grid = 528, block = 512",
  "float s = 0; for (int i = t; i < n; i += 528 * 512) s += x[i]; y[t] = s;")
add("stream", "write_only", M16, each, "y[t] = t;")
add("stream", "add_in_place", M16, each, "y[t] = x[t] + y[t];")
add("stream", "tiny_blocks", M4, "grid = n // 32, block = 32", "y[t] = 2 * x[t];")
add("stream", "large_blocks", M4, "grid = n // 1024, block = 1024", "y[t] = 2 * x[t];")
add("stream", "half_the_lanes", M4, each, "if (threadIdx.x & 1) y[t] = 2 * x[t];")
for _, s in ipairs { 2, 8, 32 } do
  add("strided", "strided_read_" .. s, M16, each, ("y[t] = x[(t * %du) %% n + t * %du / n];"):format(s, s))
  add("strided", "strided_write_" .. s, M16, each, ("y[(t * %du) %% n + t * %du / n] = x[t];"):format(s, s))
end
add("strided", "bytes", M16, "grid = n // 64, block = 256",
  "reinterpret_cast<char *>(y)[t] = reinterpret_cast<const char *>(x)[t] + 1;")
add("strided", "chunk_16", M4, "grid = n // 16 // 256, block = 256",
  "float s = 0; for (int i = 0; i < 16; i++) s += x[16 * t + i]; y[t] = s;")
for _, n in ipairs { M1, M4, M16 } do
  add("gather", "gather_" .. n, n, each, "y[t] = x[p[t]];")
  add("gather", "scatter_" .. n, n, each, "y[p[t]] = x[t];")
end
local wide = "grid = %d, block = 256, shared = %d"
add("latency", "few_blocks_16", M4, wide:format(16, 0),
  "for (int i = t; i < n; i += 16 * 256) y[i] = 2 * x[i];")
add("latency", "few_blocks_64", M4, wide:format(64, 0),
  "for (int i = t; i < n; i += 64 * 256) y[i] = 2 * x[i];")
add("latency", "one_block", M1, "grid = 1, block = 1024",
  "float s = 0; for (int i = t; i < n; i += 1024) s += x[i]; y[t] = s;")
add("latency", "low_occupancy", M16, "grid = 132, block = 64, shared = 120000",
  "for (int i = t; i < n; i += 132 * 64) y[i] = 2 * x[i];")
add("latency", "half_occupancy", M16, "grid = n // 256, block = 256, shared = 50000", "y[t] = 2 * x[t];")
for _, c in ipairs { { "chase_one", 1, 1, 1024 }, { "chase_long", 1, 32, 16384 },
                     { "chase_all", 264, 128, 64 } } do
  add("latency", c[1], M4, ("grid = %d, block = %d"):format(c[2], c[3]),
    ("int at = t * 37; for (int i = 0; i < %d; i++) at = p[at]; y[t] = at;"):format(c[4]))
end
add("cache", "l2_again", M1, "grid = 528, block = 512",
  "float s = 0; for (int r = 0; r < 16; r++) for (int i = t; i < n; i += 528 * 512) s += x[(i + 4096 * r) % n]; y[t] = s;")
add("cache", "l1_again", M4, "grid = 528, block = 256", [[
  const float *at = x + blockIdx.x * 4096; float s = 0;
  for (int r = 0; r < 64; r++) for (int i = threadIdx.x; i < 4096; i += 256) s += at[(i + 7 * r) & 4095];
  y[t] = s;]])
add("cache", "same_for_all", M4, "grid = 1056, block = 256",
  "float s = 0; for (int i = 0; i < 1024; i++) s += x[i] * (t + i); y[t] = s;")
add("cache", "stencil_1d", M16, each,
  "if (t >= 2 && t + 2 < n) y[t] = x[t - 2] + x[t - 1] + x[t] + x[t + 1] + x[t + 2];")
add("cache", "stencil_2d", M16, each, [[
  unsigned r = t >> 12, c = t & 4095;
  if (r > 0 && r < 4095 && c > 0 && c < 4095) y[t] = x[t] + x[t - 1] + x[t + 1] + x[t - 4096] + x[t + 4096];]])
add("cache", "matvec", M16, "grid = 512, block = 256", [[
  unsigned row = t >> 5, lane = t & 31; float s = 0;
  for (int i = lane; i < 4096; i += 32) s += x[row * 4096 + i] * y[(4096 + i) & 8191];
  for (int o = 16; o > 0; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
  if (lane == 0) y[16384 + row] = s;]])
add("atomics", "atomics_spread", M4, each, "atomicAdd(&y[p[t]], x[t]);")
add("atomics", "atomics_256", M1, each, "atomicAdd(&y[p[t] & 255], x[t]);")
add("atomics", "atomics_one", 1 << 18, each, "atomicAdd(reinterpret_cast<int *>(y), p[t] & 1);")
add("atomics", "shared_histogram", M4, "grid = 264, block = 256", [[
  __shared__ int bins[256]; bins[threadIdx.x] = 0; __syncthreads();
  for (int i = t; i < n; i += 264 * 256) atomicAdd(&bins[p[i] & 255], 1);
  __syncthreads(); atomicAdd(reinterpret_cast<int *>(y) + threadIdx.x, bins[threadIdx.x]);]])

-- ---- transposes: 4096 x 4096

local tiles = "grid = { 128, 128 }, block = { 32, 8 }"
local function transpose(name, pad)
  add("shared", name, M16, tiles, ([[
  __shared__ float tile[32][%d];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = x[(r + i) * 4096 + c];
  __syncthreads();
  c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) y[(r + i) * 4096 + c] = tile[threadIdx.x][threadIdx.y + i];]]):format(pad))
end
add("strided", "transpose_naive", M16, tiles, [[
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) y[c * 4096 + r + i] = x[(r + i) * 4096 + c];]])
transpose("transpose_conflicts", 32)
transpose("transpose_padded", 33)

-- ---- shared memory, barriers, shuffles

for _, s in ipairs { 1, 2, 8, 32 } do
  add("shared", "shared_stride_" .. s, M1, "grid = 528, block = 256", ([[
  __shared__ float a[8192]; for (int i = threadIdx.x; i < 8192; i += 256) a[i] = x[i]; __syncthreads();
  float s = 0; unsigned at = threadIdx.x * %d;
  for (int i = 0; i < 256; i++) { s += a[at & 8191]; at += 32 * 32 + (i & 1); }
  y[t] = s;]]):format(s))
end
add("shared", "barriers", M1, "grid = 528, block = 256", [[
  __shared__ float a[256]; a[threadIdx.x] = x[t]; __syncthreads();
  for (int i = 0; i < 128; i++) { float v = a[(threadIdx.x + i) & 255]; __syncthreads();
    a[threadIdx.x] = v + 1; __syncthreads(); }
  y[t] = a[threadIdx.x];]])
add("shared", "shuffles", M1, "grid = 1056, block = 256",
  "float s = x[t]; for (int i = 0; i < 256; i++) s += __shfl_xor_sync(~0u, s, (i & 15) + 1); y[t] = s;")
add("shared", "n_body", 1 << 14, "grid = 128, block = 128", [[
  __shared__ float a[128]; float me = x[t], f = 0;
  for (int tile = 0; tile < n; tile += 128) {
    a[threadIdx.x] = x[tile + threadIdx.x]; __syncthreads();
    for (int j = 0; j < 128; j++) { float d = a[j] - me; f += d * rsqrtf(d * d + 0.01f); }
    __syncthreads();
  }
  y[t] = f;]])

-- ---- arithmetic

for _, chains in ipairs { 1, 4, 8 } do
  for _, warps in ipairs { 1, 8, 32 } do
    add("compute", ("fma_%d_chains_%d_warps"):format(chains, warps), M1, ("grid = 264, block = %d"):format(32 * warps), ([[
  float a[%d]; for (int j = 0; j < %d; j++) a[j] = x[t + j];
  float m = x[n - 1 - t]; for (int i = 0; i < 512; i++)
    for (int j = 0; j < %d; j++) a[j] = a[j] * m + 0.5f;
  float s = 0; for (int j = 0; j < %d; j++) s += a[j]; y[t] = s;]]):format(chains, chains, chains, chains))
  end
end
local function loop(class, name, grid, rounds, body, before)
  add(class, name, M1, ("grid = %d, block = 256"):format(grid),
    ("float v = x[t]; int q = p[t]; for (int i = 0; i < %d; i++) { %s } y[t] = v + q;"):format(rounds, body), before)
end
loop("compute", "fma_long", 1056, 2048, "v = v * 0.999f + 0.5f;")
loop("compute", "integer", 1056, 512, "q = q * 1664525 + 1013904223; q ^= q >> 13;")
loop("compute", "divide", 528, 256, "q = 1000000007 / ((q & 1023) + i + 1);")
loop("compute", "float_divide", 528, 256, "v = 1.0f / (v * v + 1.5f);")
loop("compute", "exp", 1056, 256, "v = __expf(-v * v);")
loop("compute", "exp_sin_exact", 528, 128, "v = sinf(v) + expf(-v);")
loop("compute", "tanh", 528, 128, "v = tanhf(v) + 0.1f;")
add("compute", "double", M1, "grid = 1056, block = 256",
  "double v = x[t]; for (int i = 0; i < 512; i++) v = v * 0.999 + 0.5; y[t] = v;")
add("compute", "many_registers", M1, "grid = 264, block = 256", [[
  float a[96]; for (int j = 0; j < 96; j++) a[j] = x[(t + 1024 * j) & (n - 1)];
  for (int i = 0; i < 32; i++)
#pragma unroll
    for (int j = 0; j < 96; j++) a[j] = a[j] * a[(j + 7) % 96] + 0.25f;
  float s = 0; for (int j = 0; j < 96; j++) s += a[j]; y[t] = s;]])
add("compute", "local_memory", M1, "grid = 264, block = 256", [[
  float a[32]; for (int j = 0; j < 32; j++) a[j] = x[(t + 1024 * j) & (n - 1)];
  float s = 0; for (int i = 0; i < 64; i++) s += a[(p[t] + i * 5) & 31]; y[t] = s;]])
loop("divergent", "uneven_lanes", 1056, 256, "if (i < (q & 255)) v = v * 0.999f + __expf(v); ")
loop("divergent", "both_ways", 1056, 256, "if (q >> (i & 15) & 1) v = v * 0.9f + 1; else v = v * v * 0.1f - 1; ")
add("divergent", "uneven_blocks", M1, "grid = 1056, block = 256",
  "float v = x[t]; int r = (blockIdx.x % 132 == 0) ? 4096 : 128; for (int i = 0; i < r; i++) v = v * 0.999f + 0.5f; y[t] = v;")
add("divergent", "one_block_more", M1, "grid = 133, block = 1024",
  "float v = x[t]; for (int i = 0; i < 4096; i++) v = v * 0.999f + 0.5f; y[t] = v;")

-- ---- launches

add("launch", "empty", 1 << 16, "grid = 1, block = 32", "if (n == 0) y[t] = 1;")
add("launch", "small", 1 << 16, each, "y[t] = x[t];")
for _, count in ipairs { 2, 8 } do
  add("launch", "launches_" .. count, 1 << 16, each, "y[t] = x[t];")
  local last = list[#list]
  local one = last.plan:match "launch%b()"
  last.plan = "local n = inputs[1].numel\n" .. (one .. "\n"):rep(count)
end

return M
