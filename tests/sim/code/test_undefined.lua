-- Reads of shared and local memory to which nothing was written, on the simulated device: no finding where what they
-- bring decides nothing, one with the line and the thread of the read where it does.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local real = dofile "tests/sim/code/real_code.lua"

local device <close> = real.device()
local warp = 'launch("k", { grid = 1, block = 32 }, out)'

local function run(source, right, plan)
  local list, report = real.run(device, (right and "#define RIGHT(...) __VA_ARGS__\n#define WRONG(...)\n"
    or "#define RIGHT(...)\n#define WRONG(...) __VA_ARGS__\n") .. source, plan or warp, 256)
  assert(list, report)
  return (report.races or 0) > 0 and report.race or nil, list
end

-- A kernel, and one that differs in whether what was read decides anything.
local function twins(name, pattern, source, plan)
  check.test(name, function()
    check.equal(run(source, true, plan), nil, "the right one")
    local said = run(source, false, plan)
    assert(said, "nothing was found in the wrong one")
    check.matches(said, pattern)
  end)
end

-- Each thread but the last has written its place; each reads the next one's. `v` is what thread 31 has of it.
local ahead = [[extern "C" __global__ void k(int *out) {
  __shared__ volatile int s[32]; __shared__ int more[64]; int t = threadIdx.x, some = 0;
  if (t < 31) s[t + 1] = 7 * t; more[t] = more[t + 32] = t;
  __syncwarp();
  int v = s[t], w = s[31 - t];
  %s
  out[t] = some;
}]]
local of_line_7 = "^uninitialised memory: k, kernel.cu line 7: read of byte 0 of shared memory, to which nothing was written, "
  .. "by block %(0,0,0%) thread %(0,0,0%); line "

twins("a value that is stored, or not chosen", of_line_7 .. "10 stores it to global memory$",
  ahead:format 'asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; selp.b32 %0, %2, 5, p; }" : "=r"(some) : "r"(RIGHT(t) WRONG(1)), "r"(v));\n')

twins("a value that is branched on, or read ahead of a loop's end", of_line_7 .. "%d branches on it$",
  ahead:format "if (RIGHT(t > 0 &&) v > 3) some = more[t]; else { __threadfence(); some = t; }")

twins("a value that is an address", of_line_7 .. "8 takes it for an address$",
  ahead:format "some = more[(RIGHT(t ? v : 3) WRONG(v)) & 31];")

twins("a value that goes into a reduction", of_line_7 .. "8 uses it in 'redux'$",
  ahead:format "some = __reduce_add_sync(~0u, RIGHT(t == 0 ? 0 :) v);")

twins("a value that another lane gets", of_line_7 .. "%d+ stores it to global memory$",
  ahead:format "int x = __shfl_sync(~0u, v, RIGHT(t | 1) WRONG(t)); some = x;")

twins("a value that is voted on", of_line_7 .. "8 uses it in 'vote'$",
  ahead:format "some = __any_sync(~0u, RIGHT(t > 0 &) v > 3);")

twins("a value that is added to by an atomic", of_line_7 .. "8 uses it in 'atom_shared'$",
  ahead:format "atomicAdd(&more[3], RIGHT(t) WRONG(v)); __syncwarp(); some = more[4];")

twins("bits that are masked away", of_line_7 .. "%d+ stores it to global memory$",
  ahead:format "some = v & (RIGHT(t ? 255 : 0) WRONG(255));")

check.test("values that pass through arithmetic keep the line and the thread of the read", function()
  local said = run(ahead:format "float f = 2.0f * v + 1; some = (int)f + more[t];", false)
  check.matches(said, of_line_7 .. "%d+ stores it to global memory$")
  local _, list = run(ahead:format "long long f = v; f = f * f; if (t == 0) f = 3; some = (int)(f >> 1);", true)
  check.equal(list[1], 1)
  check.equal(run(ahead:format "long long f = v; f = f * f; if (t == 0) f = 3; some = (int)(f >> 1);", true), nil)
end)

check.test("each thread's own place is named", function()
  local said = run([[extern "C" __global__ void k(int *out) {
  __shared__ volatile int s[64]; int t = threadIdx.x;
  if (t < 64 - 3) s[t] = t;
  __syncthreads();
  int v = s[t];
  if (t < 62) v = 1;
  out[t] = v;
}]], true, 'launch("k", { grid = 1, block = 64 }, out)')
  check.matches(said, "kernel.cu line 7: read of byte 248 of shared memory, .* by block %(0,0,0%) thread %(62,0,0%); line 9 stores")
end)

twins("a copy in shared memory, of which the rest is used", "line %d+: read of byte %d+ of shared memory, .* stores it to global memory$",
  [[extern "C" __global__ void k(int *out) {
  __shared__ volatile int s[32], copy[32]; int t = threadIdx.x;
  if (t < 20) s[t] = t;
  __syncwarp();
  copy[t] = s[t];
  __syncwarp();
  out[t] = copy[RIGHT(t % 20) WRONG(t)];
}]])

twins("a copy in another warp's hands", "byte %d+ of shared memory, .* thread %(%d+,0,0%); line %d+ stores it to global memory$",
  [[extern "C" __global__ void k(int *out) {
  __shared__ volatile int s[64], copy[64]; int t = threadIdx.x;
  if (t < 20) s[t] = t;
  __syncthreads();
  copy[63 - t] = s[t];
  __syncthreads();
  out[t] = copy[RIGHT(63 - t % 20) WRONG(t)];
}]], 'launch("k", { grid = 1, block = 64 }, out)')

twins("a copy in local memory, of which the rest is used", "read of byte %d+ of its local memory, .* stores it to global memory$",
  [[extern "C" __global__ void k(int *out) {
  volatile int a[8], b[8]; int t = threadIdx.x;
  for (int i = 0; i < 5; i++) a[i] = i * t;
  for (int i = 0; i < 8; i++) b[(i + t) & 7] = a[(i + t) & 7];
  out[t] = b[t % (RIGHT(5) WRONG(8))];
}]])

check.test("what is written over is written", function()
  local said, list = run([[extern "C" __global__ void k(int *out) {
  __shared__ volatile int s[32], copy[32]; int t = threadIdx.x;
  copy[t] = s[t];
  __syncwarp();
  copy[t] = t; int v = copy[t];
  for (int i = 0; i < 3; i++) { __syncwarp(); copy[31 - t] = v + i; __syncwarp(); v = copy[t]; }
  out[t] = v;
}]], true)
  check.equal(said, nil)
  check.equal(list[5], 31 - 4 + 3)
end)

check.test("counts are the same whether values are followed or not", function()
  local function counts(fills)
    local _, report = real.run(device, (ahead:format("if (t > 0 && v > 3) some = more[t];"):gsub("__syncwarp", ("if (t == 0) ((volatile int *)%s)[0] = 0; %%0"):format(fills and "s" or "more"), 1)), warp, 32)
    return report
  end
  local a, b = counts(true), counts(false)
  check.equal(b.races or 0, 0)
  for _, name in ipairs { "warp_instructions", "thread_instructions", "branches", "shared_requests", "global_requests", "seconds" } do check.equal(a[name], b[name], name) end
end)

-- The library's own headers, where they are installed.
local cub
for _, home in ipairs { os.getenv "CUDA_HOME" or "", "/usr/local/cuda" } do
  for _, folder in ipairs { "/include/cccl/", "/include/" } do
    if home ~= "" and core.fs.kind(home .. folder .. "cub/block/block_merge_sort.cuh") == "file" then cub = true end
  end
end

check.test("CUB's BlockMergeSort" .. (cub and "" or " (no CUB here: not run)"), function()
  if not cub then return end
  local source = [[
#include <cub/block/block_merge_sort.cuh>
struct less { __device__ bool operator()(int a, int b) const { return a < b; } };
extern "C" __global__ void k(int *out) {
  using sort = cub::BlockMergeSort<int, 64, 4>;
  __shared__ typename sort::TempStorage t;
  int v[4];
  for (int i = 0; i < 4; i++) v[i] = ((threadIdx.x * 4 + i) * 37 + 11) % 256;
  sort(t).Sort(v, less());
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = v[i];
}]]
  local said, list = run(source, true, 'launch("k", { grid = 3, block = 64 }, out)')
  check.equal(said, nil)
  for i = 1, 256 do check.equal(list[i], i - 1) end
end)

-- What that library does, in few words: each thread merges a part of two sorted halves, and reads one element beyond.
twins("a merge that reads one element behind its tile", "read of byte 256 of shared memory",
  [[extern "C" __global__ void k(int *out) {
  __shared__ int s[65]; int t = threadIdx.x, a = 0, b = 32;
  s[t] = 2 * t + 1; s[t + 32] = 2 * t; __syncwarp();
  if (t == 0) {
    int x = s[a], y = s[b];
    for (int i = 0; i < 64; i++) {
      bool second = RIGHT(b < 64 &&) (a >= 32 || y < x);
      out[i] = second ? y : x;
      if (second) y = s[++b > 64 ? 64 : b]; else x = s[++a];
    }
  }
}]])

return check.done()
