-- kernels: the probes of bench/sim/probes.lua. Each loads one way of waiting, mostly in a single thread: chains of
-- instructions that need each other's results, memory by level, barriers, fences, sleep, the heap. `n` numbers x,
-- a permutation p of their places, and n results y, as in model/any.py.

local list = {}

local head = [[extern "C" __global__ void %s(float *__restrict__ y, const float *__restrict__ x,
const int *__restrict__ p, int n) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
]]
local call = "launch('%s', { %s }, outputs[1], inputs[1], inputs[2], inputs[1].numel)\n"

local function add(class, name, launch, body, before)
  list[#list + 1] = { class = class, name = name, source = (before or "") .. head:format "k" .. body .. "}\n",
    plan = call:format("k", launch) }
end

local one, warp, idle = "grid = 1, block = 1", "grid = 1, block = 32", "grid = 1056, block = 256"

-- A loop of one thread whose turns wait for each other: floats v and w, integers q and r, 64-bit integers u and s.
local function chain(class, name, launch, rounds, body, guard)
  add(class, name, launch, ([[
  float v = x[t], w = x[t + 1]; unsigned q = p[t], r = p[t + 1] | 1;
  unsigned long long u = q, s = r * 0x9e3779b97f4a7c15ull; double d = v, e = w;
  %sfor (int i = 0; i < %d; i++) { %s }
  y[t] = v + q + u + d;
]]):format(guard or "", rounds, body))
end

-- ---- arithmetic

local fma = "v = v * w + 0.5f;"
chain("arithmetic", "fma", one, 100000, fma)
chain("arithmetic", "fma_warp", warp, 100000, fma)
chain("arithmetic", "add", one, 100000, "v = v + w;")
chain("arithmetic", "two_chains", one, 100000, fma .. " w = w * 0.999f + 0.25f;")
chain("arithmetic", "integer_mad", one, 50000, "q = q * r + 12345;")
chain("arithmetic", "integer_logic", one, 50000, "q = (q + r) ^ (q >> 3);")
chain("arithmetic", "integer_select", one, 50000, "q = q > r ? q - r : q + 77777;")
chain("arithmetic", "wide_add", one, 50000, "u = (u + s) ^ (s >> 7);")
chain("arithmetic", "wide_product", one, 20000, "u = u * s + 1;")
chain("arithmetic", "count_bits", one, 50000, "q = __popc(q ^ r) + i;")
chain("arithmetic", "double", one, 50000, "d = d * e + 0.5;")
chain("arithmetic", "halves", one, 50000, [[asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(q) : "r"(r));]])
chain("arithmetic", "divide", one, 10000, "v = w / (v + 1.5f);")
chain("arithmetic", "divide_integer", one, 10000, "q = r / ((q & 1023) + 1);")
chain("arithmetic", "root", one, 10000, "v = sqrtf(v * v + 1.5f);")
chain("arithmetic", "convert", one, 20000, "q = r ^ (int)((float)q * 0.25f);")
chain("special", "exponential", one, 20000, [[asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v));]])
chain("special", "reciprocal_root", one, 20000, "v = rsqrtf(v * v + 1.5f);")
chain("special", "sine", one, 20000, "v = __sinf(v);")
chain("special", "tanh", one, 10000, "v = tanhf(v) + 0.1f;")

-- ---- lanes, warps and blocks beside each other

chain("lanes", "shuffle", warp, 20000, "v += __shfl_xor_sync(~0u, v, 1);")
chain("lanes", "vote", warp, 20000, "q = __ballot_sync(~0u, q & 1) + threadIdx.x;")
chain("lanes", "reduce", warp, 10000, "q = __reduce_add_sync(~0u, q) + threadIdx.x;")
chain("lanes", "syncwarp", warp, 20000, fma .. " __syncwarp();")
chain("divergent", "two_ways", warp, 1, "", [[
  if (threadIdx.x & 1) for (int i = 0; i < 20000; i++) v = v * w + 0.5f;
  else for (int i = 0; i < 20000; i++) v = v * w - 0.5f;
  ]])
chain("divergent", "branches", warp, 5000, "if (q >> (i & 15) & 1) v = v * w + 1; else v = v * v - w;")
chain("divergent", "uneven_lanes", warp, 1, "", "for (int i = 0; i < 1000 * (int)threadIdx.x; i++) v = v * w + 0.5f;\n  ")
chain("idle", "idle_blocks", idle, 100000, fma, "if (t == 0) ")
chain("idle", "idle_warps", "grid = 1, block = 1024", 100000, fma, "if (threadIdx.x < 32) ")
chain("idle", "last_of_many", idle, 20000, fma, "if (blockIdx.x == 1055) ")
add("idle", "busy_block", idle, [[
  float a[8]; for (int j = 0; j < 8; j++) a[j] = x[t + j];
  if (blockIdx.x == 7) for (int i = 0; i < 4096; i++) for (int j = 0; j < 8; j++) a[j] = a[j] * 0.999f + 0.5f;
  float s = 0; for (int j = 0; j < 8; j++) s += a[j]; y[t] = s;
]])

-- ---- memory

add("memory", "shared_chase", one, [[
  __shared__ int a[1024]; for (int i = 0; i < 1024; i++) a[i] = (i * 37 + 11) & 1023;
  int at = p[0] & 1023; for (int i = 0; i < 20000; i++) at = a[at]; y[t] = at;
]])
add("memory", "shared_round_trip", warp, [[
  __shared__ volatile float a[32]; float v = x[t];
  for (int i = 0; i < 10000; i++) { a[threadIdx.x] = v; v = a[threadIdx.x] + 1; } y[t] = v;
]])
add("memory", "local_round_trip", one, [[
  volatile float a[64]; float v = x[t]; int at = p[t];
  for (int i = 0; i < 5000; i++) { a[at & 63] = v; v = a[at & 63] + 1; at += 7; } y[t] = v;
]])
add("memory", "global_round_trip", one, [[
  volatile float *a = y; float v = x[t];
  for (int i = 0; i < 2000; i++) { a[n - 1] = v; v = a[n - 1] + 1; } y[t] = v;
]])
local function chase(name, launch, rounds, mask, guard, first)
  add("memory", name, launch, ([[
  int at = t * 37 & (%d - 1);
  %sfor (int i = 0; i < %d; i++) at = (p[at] + i * 97) & (%d - 1);
  y[t] = at;
]]):format(mask, guard or "", rounds, mask))
  if not first then return end
  local last = list[#list]                    -- a kernel before, which brings what is chased into L2
  last.source = last.source .. head:format "warm" .. "  if (p[t] < 0) y[t] = 1;\n}\n"
  last.plan = call:format("warm", ("grid = %d, block = 256"):format(mask // 256)) .. last.plan
end
chase("l1_chase", one, 8192, 4096)
chase("l2_chase", one, 4096, 1 << 20, nil, true)
chase("dram_chase", one, 4096, 1 << 22)
chase("dram_chase_warp", warp, 2048, 1 << 22)
chase("dram_chase_idle", idle, 4096, 1 << 22, "if (t == 0) ")
add("memory", "chase_beside_streams", idle, [[
  if (blockIdx.x == 0) { int at = t * 37; for (int i = 0; i < 1024; i++) at = p[at]; y[t] = at; return; }
  float s = 0; for (int i = t; i < n; i += 1056 * 256) s += x[i]; y[t] = s;
]])
add("memory", "async_copies", one, [[
  __shared__ int a[4]; unsigned to = (unsigned)__cvta_generic_to_shared(a); int at = 0;
  for (int i = 0; i < 2000; i++) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16; cp.async.commit_group; cp.async.wait_group 0;"
                 :: "r"(to), "l"(p + (at & ~3)) : "memory");
    at = (a[i & 3] + i) & 0xfffff;
  }
  y[t] = at;
]])

-- ---- barriers, fences, sleep

local function rounds(class, name, launch, count, body, before)
  add(class, name, launch, ("  %s for (int i = 0; i < %d; i++) { %s } y[t] = x[t];\n"):format(before or "", count, body))
end
for _, threads in ipairs { 64, 256, 1024 } do
  rounds("barrier", "barriers_" .. threads, "grid = 1, block = " .. threads, 5000, "__syncthreads();")
end
add("barrier", "in_turns", "grid = 1, block = 256", [[
  float v = x[t], w = x[t + 1];
  for (int i = 0; i < 200; i++) {
    if (threadIdx.x / 32 == (i & 7)) for (int j = 0; j < 200; j++) v = v * w + 0.5f;
    __syncthreads();
  }
  y[t] = v;
]])
add("barrier", "through_shared", "grid = 1, block = 256", [[
  __shared__ float a[256]; a[threadIdx.x] = x[t]; __syncthreads();
  for (int i = 0; i < 2000; i++) { float v = a[(threadIdx.x + i) & 255]; __syncthreads(); a[threadIdx.x] = v + 1; __syncthreads(); }
  y[t] = a[threadIdx.x];
]])
add("barrier", "clusters", "grid = 4, block = 128", [[
  for (int i = 0; i < 1000; i++) asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  y[t] = x[t];
]])
list[#list].source = list[#list].source:gsub("__global__ void", "__global__ void __cluster_dims__(4)")
local store = "reinterpret_cast<volatile float *>(y)[t] = i; "
rounds("fence", "fence_block", one, 5000, store .. "__threadfence_block();")
rounds("fence", "fence_device", one, 2000, store .. "__threadfence();")
rounds("fence", "fence_system", one, 2000, store .. "__threadfence_system();")
rounds("fence", "fence_alone", one, 2000, "__threadfence();")
rounds("sleep", "sleep_10_us", one, 20, "__nanosleep(10000);")
rounds("sleep", "sleep_1_ms", one, 1, "__nanosleep(1000000);")
rounds("sleep", "sleep_idle", idle, 50, "__nanosleep(10000);", "if (t == 0)")

-- ---- atomics

chain("atomic", "atomic_chain", one, 2000, "q = atomicAdd(reinterpret_cast<unsigned *>(y) + n - 1, q & 1);")
chain("atomic", "atomic_swap", one, 2000, "q = atomicCAS(reinterpret_cast<unsigned *>(y) + n - 1, q, i);")
rounds("atomic", "atomic_integers", "grid = 132, block = 256", 8,
  "atomicAdd(reinterpret_cast<int *>(y) + n - 1, threadIdx.x + i);")
rounds("atomic", "atomic_floats", "grid = 132, block = 256", 8, "atomicAdd(y + n - 1, x[t] + i);")
rounds("atomic", "atomic_returned", "grid = 132, block = 32", 32,
  "sum += atomicAdd(reinterpret_cast<int *>(y) + n - 1, sum);", "int sum = t;")
local bins = "__shared__ unsigned a[32]; a[threadIdx.x & 31] = 0; __syncthreads();"
add("atomic", "shared_atomic_chain", one, bins ..
  " unsigned q = p[0]; for (int i = 0; i < 5000; i++) q = atomicAdd(a + (q & 31), q & 3); y[t] = q;\n")
add("atomic", "shared_atomic_one", "grid = 1, block = 256", bins ..
  " for (int i = 0; i < 500; i++) atomicAdd(a + (i & 1), p[t] & 3); __syncthreads(); y[t] = a[0];\n")
add("atomic", "lock", "grid = 64, block = 32", [[
  int *lock = reinterpret_cast<int *>(y) + n - 1; float v = 0;
  if (t == 0) *lock = 0;
  if (threadIdx.x == 0) for (int i = 0; i < 16; i++) v += atomicExch(lock + 0, i);
  y[t] = v;
]])

-- ---- tensor cores

local mma = [[asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a), "r"(a), "r"(a), "r"(a), "r"(b), "r"(b));]]
local tf32 = [[asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a), "r"(a), "r"(a), "r"(a), "r"(b), "r"(b));]]
local function tensor(name, launch, count, product)
  add("tensor", name, launch, ([[
  float c[4] = { x[t], 0, 0, 0 }; int a = 0, b = p[t] & 1;
  for (int i = 0; i < %d; i++) { %s }
  y[t] = c[0] + c[1] + c[2] + c[3];
]]):format(count, product))
end
tensor("mma", warp, 10000, mma)
tensor("mma_tf32", warp, 10000, tf32)
tensor("mma_8_warps", "grid = 1, block = 256", 10000, mma)
tensor("mma_convert", warp, 5000, mma .. " b = __float_as_int(c[0]) & 1;")

-- ---- the heap and text, which a GPU's driver program serves

rounds("system", "heap", one, 50, "void *a = malloc(64 + i); if (a) y[t + 1] = i; free(a);")
rounds("system", "heap_warp", warp, 20, "void *a = malloc(64 + i); if (a) y[t + 1] = i; free(a);")
rounds("system", "heap_many", "grid = 132, block = 128", 4, "void *a = malloc(64 + i); if (a) y[t + 1] = i; free(a);")
rounds("system", "print", one, 10, 'printf("%d\\n", i);')
rounds("system", "print_warp", warp, 2, 'printf("%d %f\\n", i, x[t]);')

return list
