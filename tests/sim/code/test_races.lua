-- What threads do to each other, on the simulated device: wrong kernels, each beside an honest twin that differs in
-- little else and must not be accused.

local check = dofile "tests/support/check.lua"
local real = dofile "tests/sim/code/real_code.lua"

local device <close> = real.device()

-- `source` with `wrong` where RIGHT and WRONG are told apart by the preprocessor.
local function race_of(source, plan, right, run)
  local _, report = real.run(device, (right and "#define RIGHT(...) __VA_ARGS__\n#define WRONG(...)\n"
    or "#define RIGHT(...)\n#define WRONG(...) __VA_ARGS__\n") .. source, plan, 1024, run)
  assert(type(report) == "table", report)
  return (report.races or 0) > 0 and report.race or nil
end

-- Twice: what is only seen once memory has been stored to is seen then.
local function twins(name, pattern, source, plan)
  check.test(name, function()
    check.equal(race_of(source, plan, true), nil, "the right one")
    local said = race_of(source, plan .. "\n" .. plan, false)
    assert(said, "nothing was found in the wrong one")
    check.matches(said, pattern)
  end)
end

local warp = 'launch("k", { grid = 1, block = 32 }, out)'

twins("lanes: a value read with no __syncwarp() behind its store",
  "shared memory: k, kernel.cu line 6: lane 0 of warp 0 reads byte 4 of shared memory, which lane 1 wrote %(line 4%) with no __syncwarp",
  [[extern "C" __global__ void k(int *out) { __shared__ int s[33]; int l = threadIdx.x;
  s[l] = l;
  RIGHT(__syncwarp();)
  out[l] = s[(l + 1) % 32];
}]], warp)

twins("lanes: a value overwritten with no __syncwarp() behind its load", "lane %d+ of warp 0 writes byte %d+ of shared memory, which [%w ]+ read",
  [[extern "C" __global__ void k(int *out) { __shared__ int s[33]; int l = threadIdx.x;
  s[l] = 3 * l; __syncwarp();
  for (int d = 1; d < 32; d *= 2) {
    int v = l >= d ? s[l - d] : 0;
    RIGHT(__syncwarp();)
    s[l] += v;
    __syncwarp();
  }
  out[l] = s[l];
}]], warp)

twins("lanes: the last steps of a reduction", "with no __syncwarp",
  [[extern "C" __global__ void k(int *out) { __shared__ int s[64]; int l = threadIdx.x;
  s[l] = l; s[l + 32] = 2 * l; __syncwarp();
  for (int d = 32; d > 0; d /= 2) { if (l < d) s[l] += s[l + d]; RIGHT(__syncwarp();) }
  out[l] = s[l];
}]], warp)

twins("lanes: tiles meet, and one reads what another tile wrote", "with no __syncwarp",
  [[extern "C" __global__ void k(int *out) { __shared__ int s[32]; int l = threadIdx.x, tile = l / 8;
  s[l] = l;
  __syncwarp(0xffu << 8 * tile);
  int v = s[tile * 8 + (l + 3) % 8];
  RIGHT(__syncwarp();)
  out[l] = v + s[31 - l];
}]], warp)

check.test("lanes: honest exchanges: volatile, a shuffle between, one value stored by all, one's own place", function()
  check.equal(race_of([[extern "C" __global__ void k(int *out) { __shared__ int s[64], one[2]; int l = threadIdx.x;
  volatile int *v = s;
  v[l] = l; v[l + 32] = 7; v[l] += v[l + 16]; out[l] = v[(l + 5) % 32];
  s[l] = __shfl_xor_sync(~0u, l, 1);
  int sum = __reduce_add_sync(~0u, l);
  one[0] = sum;
  out[l] += one[0] + s[l] + s[31 - l];
  __syncwarp();
  if (l < 16) { s[l] = 1; __syncwarp(0xffff); out[l] += s[15 - l]; }
  else { s[l] = 2; __syncwarp(0xffff0000); out[l] += s[47 - l]; }
  __syncwarp();
  if (l % 2) { s[l] = 1; __syncwarp(); } else { s[l] = 2; __syncwarp(); }     // one barrier at two places
  out[l] += s[l ^ 1];
}]], warp, true), nil)
end)

twins("a __syncwarp() whose mask leaves out lanes that execute it",
  "misused mask: k, kernel.cu line 5: a __syncwarp%(%) whose mask 0x0000ffff does not name the lane that executes it %(16%), by block %(0,0,0%) thread %(16,0,0%)",
  [[extern "C" __global__ void k(int *out) {
  out[threadIdx.x] = threadIdx.x;
  __syncwarp(RIGHT(~0u) WRONG(0xffff));
}]], warp)

twins("a shuffle whose mask leaves out lanes that execute it", "misused mask: .*a shuffle, a vote or the like whose mask",
  [[extern "C" __global__ void k(int *out) { out[threadIdx.x] = __shfl_down_sync(RIGHT(~0u) WRONG(0x7fffffff), threadIdx.x, 1); }]], warp)

twins("half a warp at one __syncthreads(), half at another",
  "misused barrier: k, kernel.cu line %d: lanes 0x%x+ of warp 0 come to this __syncthreads%(%)",
  [[extern "C" __global__ void k(int *out) { __shared__ int s[64]; int t = threadIdx.x;
  if (t < RIGHT(32) WRONG(16)) { s[t] = 1; __syncthreads(); out[t] = s[t]; }
  else { s[t] = 2; __syncthreads(); out[t] = s[t] + 1; }
}]], 'launch("k", { grid = 1, block = 64 }, out)')

check.test("threads that have left are not missed, and barrier.sync may be reached thread by thread", function()
  check.equal(race_of([[extern "C" __global__ void k(int *out) { int t = threadIdx.x;
  if (t >= 40) return;
  __syncthreads();
  if (t % 2) { out[t] = 1; asm volatile("barrier.sync 1;"); } else { out[t] = 2; asm volatile("barrier.sync 1;"); }
}]], 'launch("k", { grid = 1, block = 64 }, out)', true), nil)
end)

twins("one byte that nothing has written", "uninitialised memory: k, kernel.cu line 5: read of byte 1 of scratch%[2%], to which nothing was written",
  [[extern "C" __global__ void k(int *out, unsigned char *some) {
  some[4 * threadIdx.x] = 1; RIGHT(some[4 * threadIdx.x + 1] = 2;)
  out[threadIdx.x] = some[4 * threadIdx.x + 1]; }]],
  'local some = scratch{ shape = { 128 }, dtype = "uint8" }\nlaunch("k", { grid = 1, block = 32 }, out, some)')

check.test("an element with a gap may be copied", function()
  check.equal(race_of([[struct gap { char a; int b; };
extern "C" __global__ void k(int *out, gap *some) { gap g; g.a = 1; g.b = 2; some[threadIdx.x].a = 1; some[threadIdx.x].b = 5;
  long long *all = (long long *)some; all[64 + threadIdx.x] = all[threadIdx.x]; out[threadIdx.x] = some[64 + threadIdx.x].b; }]],
  'local some = scratch{ shape = { 256 }, dtype = "int32" }\nlaunch("k", { grid = 1, block = 32 }, out, some)', true), nil)
end)

-- ---- global memory, within a block

local two = 'local some = scratch{ shape = { 256 }, dtype = "int32" }\nmemset(some)\nlaunch("k", { grid = 1, block = 64 }, out, some)'
local again = 'local some = scratch{ shape = { 256 }, dtype = "int32" }\nmemset(some)\n' ..
  ('launch("k", { grid = 1, block = 64 }, out, some)\n'):rep(2)

twins("a block: a value in global memory read with no __syncthreads() behind its store",
  "global memory: k, kernel.cu line %d: warp 1 [rw]%a+ byte %d+ of scratch%[2%], which warp 0 %a+ with no __syncthreads",
  [[extern "C" __global__ void k(int *out, int *some) { int t = threadIdx.x;
  some[t] = t;
  RIGHT(__syncthreads();)
  out[t] = some[63 - t]; }]], two)

twins("a block: overwritten while others read it", "global memory: k, kernel.cu line %d: warp %d+ [rw]%a+ byte %d+ of scratch%[2%], which warp %d+ ",
  [[extern "C" __global__ void k(int *out, int *some) { int t = threadIdx.x, v = some[63 - t];
  RIGHT(__syncthreads();)
  some[t] = v + t + 1; out[t] = v; }]], again)

twins("a block: added to before it begins at 0", "global memory: k, .* warp 1 updates byte 0 of scratch%[2%], which warp 0 wrote",
  [[extern "C" __global__ void k(int *out, int *some) { int t = threadIdx.x;
  if (t == 0) some[0] = 5;
  RIGHT(__syncthreads();)
  atomicAdd(&some[0], t); out[t] = 0; }]], two)

twins("a block: a sum read while others add to it", "global memory: k, .* warp 1 reads byte %d+ of scratch%[2%], which .* updated",
  [[extern "C" __global__ void k(int *out, int *some) { int t = threadIdx.x;
  atomicAdd(&some[t % 8], t);
  RIGHT(__syncthreads();)
  out[t] = some[t % 7]; }]], two)

twins("a block: bins that are read, added to and written back", "use atomicAdd%(%) or the like",
  [[extern "C" __global__ void k(int *out, int *some) { int t = threadIdx.x;
  RIGHT(atomicAdd(&some[t % 8], 1); if (t < 0)) some[t % 8] += 1;
  out[t] = 0; }]], two)

-- ---- between blocks, with fences

local function blocks(n, scratch)
  return ('local part, flag = scratch{ shape = { %d }, dtype = "int32" }, scratch{ shape = { 64 }, dtype = "int32" }\nmemset(flag)\n'
    .. 'launch("k", { grid = %d, block = 64 }, out, part, flag)'):format(scratch or 1024, n)
end

local last = [[extern "C" __global__ void k(int *out, int *part, int *flag) {
  __shared__ bool last;
  part[blockIdx.x * 64 + threadIdx.x] = blockIdx.x + threadIdx.x;
  %s
  if (threadIdx.x == 0) last = atomicInc((unsigned *)flag, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (int b = 0; b < gridDim.x; b++) sum += %s;
  out[threadIdx.x] = sum;
}]]
local unordered = "global memory: k, kernel.cu line %d+: block %(%d+,0,0%) reads byte %d+ of scratch%[2%], where block %(%d+,0,0%) wrote in the same launch; "

twins("the last block sums up: no fence", unordered .. "blocks run in any order",
  last:format("RIGHT(__threadfence();) __syncthreads();", "part[b * 64 + threadIdx.x]"), blocks(8))
twins("the last block sums up: a fence of the block only", unordered,
  last:format("RIGHT(__threadfence();) WRONG(__threadfence_block();) __syncthreads();", "part[b * 64 + threadIdx.x]"), blocks(8))
twins("the last block sums up: a fence that other warps' stores need not precede", unordered .. "no fence and flag put them in order",
  last:format("RIGHT(__syncthreads();) if (threadIdx.x == 0) __threadfence();", "part[b * 64 + threadIdx.x]"), blocks(8))
twins("the last block sums up: a fence of one warp only", unordered,
  last:format("RIGHT(__threadfence();) WRONG(if (threadIdx.x < 32) __threadfence();) __syncthreads();", "part[b * 64 + threadIdx.x]"), blocks(8))
twins("the last block sums up: the fence comes before the stores", unordered,
  last:format("RIGHT(__syncthreads();) __threadfence(); RIGHT(__syncthreads();) WRONG(part[blockIdx.x * 64 + threadIdx.x] = 3;)",
    "((volatile int *)part)[b * 64 + threadIdx.x]"), blocks(8))

-- Each block waits for the one before it, adds its own, and tells the next.
local chain = [[
__device__ int load(int *p) { int v; asm volatile("ld.acquire.gpu.s32 %%0, [%%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
extern "C" __global__ void k(int *out, int *part, int *flag) {
  int b = blockIdx.x, t = threadIdx.x;
  if (t == 0 && b > 0) while (%s == 0) ;
  __syncthreads();
  int v = b > 0 ? part[(b - 1) * 64 + t] + 1 : t;
  part[b * 64 + t] = v;
  %s
  out[b * 64 + t] = v;
}]]
local before = "global memory: k, kernel.cu line %d+: block %(1,0,0%) reads byte %d+ of scratch%[2%], where block %(0,0,0%) wrote"
twins("a chain of blocks: volatile flags behind a fence", before, chain:format("*(volatile int *)&flag[b - 1]",
  "RIGHT(__threadfence();) __syncthreads(); if (t == 0) *(volatile int *)&flag[b] = 1;"), blocks(12))
twins("a chain of blocks: acquire and release", before, chain:format("load(&flag[b - 1])",
  '__syncthreads(); if (t == 0) asm volatile("st." RIGHT("release.gpu") WRONG("relaxed.gpu") ".s32 [%0], 1;" :: "l"(&flag[b]) : "memory");'), blocks(12))
twins("a chain of blocks: a release before the others are there", before, chain:format("load(&flag[b - 1])",
  'RIGHT(__syncthreads();) if (t == 0) asm volatile("st.release.gpu.s32 [%0], 1;" :: "l"(&flag[b]) : "memory");'), blocks(12))
twins("a chain of blocks: a release for the block only", before, chain:format("load(&flag[b - 1])",
  '__syncthreads(); if (t == 0) asm volatile("st.release." RIGHT("gpu") WRONG("cta") ".s32 [%0], 1;" :: "l"(&flag[b]) : "memory");'), blocks(12))
twins("a chain of blocks: a counter that each adds to", before, chain:format("atomicAdd(flag, 0) / b",
  "RIGHT(__threadfence();) __syncthreads(); if (t == 0) atomicAdd(flag, 1);"), blocks(12))

twins("a lock: given back before its stores are there", "block %(%d+,0,0%) reads byte 0 of scratch%[2%]",
  [[extern "C" __global__ void k(int *out, int *part, int *flag) {
  if (threadIdx.x == 0) {
    while (atomicCAS(flag, 0, 1) != 0) ;
    int n = atomicAdd(flag + 1, 1);
    part[0] = n == 0 ? 1 : part[0] + 1;
    RIGHT(__threadfence();)
    atomicExch(flag, 0);
    out[blockIdx.x] = n;
  } }]], blocks(8))

twins("a barrier of the grid: no fence before it", "block %(%d+,0,0%) reads byte %d+ of scratch%[2%]",
  [[extern "C" __global__ void k(int *out, int *part, int *flag) {
  int i = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
  for (int round = 1; round < 4; round++) {
    part[(round & 1) * n + i] = round * i;
    RIGHT(__threadfence();)
    __syncthreads();
    if (threadIdx.x == 0) { atomicAdd(flag, 1); while (*(volatile int *)flag < round * gridDim.x) ; }
    __syncthreads();
    out[i] = part[(round & 1) * n + n - 1 - i];
  } }]], blocks(6))

twins("split sums with a semaphore, in the order of the blocks", "block %(%d+,0,0%) reads byte %d+ of scratch%[2%]",
  [[extern "C" __global__ void k(int *out, int *part, int *flag) {
  int split = blockIdx.x % 4, tile = blockIdx.x / 4, t = threadIdx.x, *sum = part + tile * 64;
  if (t == 0) { int v; do asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(v) : "l"(flag + tile)); while (v != split); }
  __syncthreads();
  sum[t] = split == 0 ? t : sum[t] + t;
  __syncthreads();
  if (t == 0) {
    RIGHT(__threadfence(); asm volatile("st.global.release.gpu.b32 [%0], %1;" :: "l"(flag + tile), "r"(split + 1));)
    WRONG(asm volatile("st.global.relaxed.gpu.b32 [%0], %1;" :: "l"(flag + tile), "r"(split + 1));)
  }
  if (split == 3) out[tile * 64 + t] = sum[t]; }]], blocks(12))

twins("what one block reads another overwrites", "block %(%d+,0,0%) writes byte %d+ of scratch%[2%], which block %(%d+,0,0%) read",
  [[extern "C" __global__ void k(int *out, int *part, int *flag) {
  int i = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
  if (i == 0) part[n] = 1;
  out[i] = RIGHT(part[n + 64 + i]) WRONG(part[i + 64]);
  part[i] = i + 1000; }]], 'local part, flag = scratch{ shape = { 1024 }, dtype = "int32" }, scratch{ shape = { 64 }, dtype = "int32" }\nmemset(part)\n' ..
  ('launch("k", { grid = 4, block = 64 }, out, part, flag)\n'):rep(2))

check.test("blocks run in an order drawn from the poison, and those that wait for the one before them still end", function()
  local seen = {}
  for poison = 0, 6 do
    local out = real.run(device, [[extern "C" __global__ void k(int *out, int *part, int *flag) {
  if (threadIdx.x == 0) { int n = atomicAdd(flag, 1); out[blockIdx.x] = n; } }]], blocks(40), 40, { poison = poison * 0x01234567 })
    local text = table.concat(out, " ")
    seen[text] = true
    table.sort(out)
    for i = 1, 40 do check.equal(out[i], i - 1) end
    if poison == 0 then check.matches(text, "^0 1 2 3 4 5 6 7 8 ") end
  end
  local n = 0
  for _ in pairs(seen) do n = n + 1 end
  assert(n >= 4, n .. " orders")
  local right = chain:format("load(&flag[b - 1])", '__syncthreads(); if (t == 0) asm volatile("st.release.gpu.s32 [%0], 1;" :: "l"(&flag[b]) : "memory");')
  for poison = 1, 3 do check.equal(race_of(right, blocks(16), true, { poison = poison * 0x01234567 }), nil) end
end)

check.test("a finding of a kernel with a long name keeps its line and its thread", function()
  local name = ("a_name_of_some_length_"):rep(12)
  local said = race_of(([[extern "C" __global__ void %s(int *out, int *some) { out[threadIdx.x] = some[threadIdx.x]; }]]):format(name),
    ('local some = scratch{ shape = { 64 }, dtype = "int32" }\nlaunch("%s", { grid = 1, block = 32 }, out, some)'):format(name), true)
  check.matches(said, "a_name_of_so.*%.%.%..*, kernel.cu line 3: read of byte 0 of scratch%[2%], .* by block %(0,0,0%) thread %(0,0,0%)$")
  local sanitizer = require "cawb.judge.verify.sanitizer"
  local found = sanitizer.simulated { races = 1, race = said }
  check.equal(found.line, 3)
  check.equal(table.concat(found.thread, ","), "0,0,0")
end)

return check.done()
