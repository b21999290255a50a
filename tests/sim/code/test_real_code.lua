-- PTX that other people's code has, on the simulated device: each executed, with the values that it must leave and
-- nothing found in it. What is wrong in such code is in test_races.lua.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local real = dofile "tests/sim/code/real_code.lua"

local device <close> = real.device()

local function leaves(want, source, plan, run)
  local got, report = real.run(device, source, plan, #want, run)
  assert(got, report)
  for i, value in ipairs(want) do check.equal(got[i], value, "word " .. i - 1) end
  check.equal(report.races or 0, 0, report.race)
end

local function fails(pattern, source, plan)
  local got, message = real.run(device, source, plan, 64)
  assert(not got, "it ran")
  check.matches(message, pattern)
end

local function count(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i - 1) end
  return list
end

check.test("warpSize, which PTX calls WARP_SZ", function()
  leaves({ 32, 96, 33 }, [[
extern "C" __global__ void k(int *out) {
  out[0] = warpSize;
  asm volatile("mul.lo.s32 %0, %1, WARP_SZ;" : "=r"(out[1]) : "r"(3));
  asm volatile("{ .reg .b32 t; mov.u32 t, WARP_SZ; add.s32 %0, t, 1; }" : "=r"(out[2]));
}]], 'launch("k", { grid = 1, block = 1 }, out)')
end)

-- Lane i takes so many bytes of element i; what it does not take is zero, and is not read.
local copies = [[
extern "C" __global__ void k(int *out, const int *in, int have) {
  __shared__ __align__(16) int s[32 * 4];
  unsigned to = (unsigned)__cvta_generic_to_shared(&s[4 * threadIdx.x]);
  int left = have - 4 * (int)threadIdx.x, bytes = left >= 4 ? 16 : left > 0 ? 4 * left : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(in + 4 * threadIdx.x), "r"(bytes));
  asm volatile("cp.async.wait_all;");
  __syncthreads();
  for (int i = 0; i < 4; i++) out[4 * threadIdx.x + i] = s[4 * threadIdx.x + i];
}
extern "C" __global__ void fill(int *in, int have) { if (threadIdx.x < have) in[threadIdx.x] = 7 + threadIdx.x; }]]
local copy_plan = [[
local some = scratch{ shape = { %d }, dtype = "int32" }
launch("fill", { grid = 1, block = 128 }, some, %d)
launch("k", { grid = 1, block = 32 }, out, some, %d)]]

check.test("cp.async with a size of the source: zeros beyond it, and no access", function()
  leaves(count(128, function(i) return i < 23 and 7 + i or 0 end), copies, copy_plan:format(23, 23, 23))
  leaves(count(128, function(i) return i < 24 and 7 + i or 0 end), copies, copy_plan:format(24, 24, 24))
end)

check.test("what cp.async does take is looked at", function()
  fails("past the end of scratch%[2%]", copies, copy_plan:format(24, 24, 40))
  local _, report = real.run(device, copies, copy_plan:format(32, 24, 32), 128)
  check.matches(report.race, "read of byte %d+ of scratch%[2%], to which nothing was written")
end)

check.test("a first store to shared memory may be volatile, relaxed or releasing", function()
  leaves(count(64, function(i) return 63 - i + 1000 + 5 end), [[
extern "C" __global__ void k(int *out) {
  __shared__ int s[3][64];
  volatile int *v = s[0];
  v[threadIdx.x] = threadIdx.x;
  unsigned a = (unsigned)__cvta_generic_to_shared(&s[1][threadIdx.x]);
  asm volatile("st.relaxed.cta.shared.s32 [%0], %1; st.release.cta.shared.s32 [%0 + 256], %2;" :: "r"(a), "r"(1000), "r"(5) : "memory");
  __syncthreads();
  out[threadIdx.x] = s[0][63 - threadIdx.x] + s[1][threadIdx.x] + s[2][63 - threadIdx.x];
}]], 'launch("k", { grid = 1, block = 64 }, out)')
end)

check.test("registers of 128 bits", function()
  leaves({ 5, 6, 6, 5, 6, 5, 5, 6 }, [[
extern "C" __global__ void k(int *out) {
  __shared__ __align__(16) long long s[2];
  unsigned at = (unsigned)__cvta_generic_to_shared(s);
  long long x, y, *to = (long long *)out, *two = 0;
  asm volatile("{ .reg .b128 a, b, c; mov.b128 a, {%3, %4}; mov.b128 b, {%4, %3}; st.global.b128 [%2], a;\n"
               "atom.global.exch.b128 c, [%2], b; mov.b128 {%0, %1}, c; }" : "=l"(x), "=l"(y) : "l"(to), "l"(5ll), "l"(6ll) : "memory");
  out[4] = (int)y; out[5] = (int)x;                       // as it was
  asm volatile("{ .reg .b128 a, b, c; mov.b128 a, {%3, %4}; mov.b128 b, {%4, %3}; st.shared.b128 [%2], a;\n"
               "atom.shared.cas.b128 c, [%2], b, b; atom.cas.b128 c, [%5], a, a; ld.shared.b128 c, [%2]; mov.b128 {%0, %1}, c; }"
               : "=l"(x), "=l"(y) : "r"(at), "l"(5ll), "l"(6ll), "l"(to) : "memory");
  out[6] = (int)x; out[7] = (int)y;
  long long p = to[0], q = to[1];
  out[0] = (int)q; out[1] = (int)p; out[2] = (int)p; out[3] = (int)q;
}]], 'launch("k", { grid = 1, block = 1 }, out)')
end)

check.test("video instructions on parts of registers", function()
  local function word(v) return v >= 1 << 31 and v - (1 << 32) or v end
  leaves({ word(0x9325d508), word(0x6ebd2902), word(0x12345603), word(0xdeadd1a2), word(0xde17beef), word(0x5603beef),
    word(0xffbdb0d5), word(0xdeadbeef), -1, word(0xf01e2fe0), word(0x49936b04) }, [[
#define TWO(k, op) asm volatile(op " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); out[k] = r;
#define THREE(k, op, d, x, y) asm volatile("{ .reg .b32 t; " op " t" d ", %1" x ", %2" y ", %3; mov.b32 %0, t; }" \
  : "=r"(r) : "r"(a), "r"(b), "r"(c)); out[k] = r;
extern "C" __global__ void k(int *out, unsigned a, unsigned b, unsigned c) {
  unsigned r;
  TWO(0, "vadd.s32.s32.s32") TWO(1, "vsub.u32.u32.u32.sat") TWO(2, "vmax.s32.s32.s32")
  THREE(3, "vadd.u32.u32.u32.add", "", ".b1", ".h1") THREE(4, "vadd.s32.s32.s32.sat", ".b2", ".b0", ".b3")
  THREE(5, "vmin.u32.u32.u32", ".h1", "", "") THREE(6, "vmad.s32.s32.u32.shr7", "", ".h0", ".b1")
  THREE(7, "vset.u32.u32.lt.max", "", "", "") TWO(8, "vshl.u32.u32.u32.sat.clamp") THREE(9, "vshr.s32.s32.u32.wrap", "", "", "")
  THREE(10, "vavrg4.u32.u32.u32", "", "", "")
}]], 'launch("k", { grid = 1, block = 1 }, out, 0x80f17f05, 0x12345603, 0xdeadbeef)')
end)

check.test("malloc, free, new and delete", function()
  local source = [[
struct node { int v; node *next; };
extern "C" __global__ void k(int *out) {
  node *list = nullptr;
  for (int i = 0; i < (int)threadIdx.x % 7; i++) { node *n = new node; n->v = i; n->next = list; list = n; }
  int *more = (int *)malloc(4 * (threadIdx.x + 1)), sum = 0;
  more[threadIdx.x] = 100;
  while (list) { node *n = list; sum += n->v; list = n->next; delete n; }
  out[threadIdx.x] = sum + more[threadIdx.x];
  free(more);
}
extern "C" __global__ void all(int *out) { int n = 0; while (n < 100 && malloc(1 << 20)) n++; out[0] = n; }
extern "C" __global__ void unset(int *out) { int *p = (int *)malloc(8); p[0] = 1; out[0] = p[1]; free(p); }
extern "C" __global__ void late(int *out) { int *p = (int *)malloc(8); p[0] = 1; p[1] = 2; free(p); out[0] = p[threadIdx.x]; }
extern "C" __global__ void twice(int *out) { int *p = (int *)malloc(8); out[0] = 0; free(p); free(p + out[0]); }]]
  leaves(count(64, function(t) local n = t % 7 return n * (n - 1) // 2 + 100 end), source, 'launch("k", { grid = 1, block = 64 }, out)')
  leaves({ 8 }, source, 'launch("all", { grid = 1, block = 1 }, out)')
  for _, name in ipairs { "unset", "late" } do
    local _, report = real.run(device, source, ('launch("%s", { grid = 1, block = 1 }, out)'):format(name), 1)
    check.matches(report.race, "uninitialised memory: " .. name)
  end
  fails("twice.*free%(%) of an address that malloc%(%) has not given", source, 'launch("twice", { grid = 1, block = 1 }, out)')
end)

check.test("functions that call themselves, each lane as deep as it goes", function()
  local source = [[
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }
__device__ void sort(int *a, int from, int to) {
  if (from >= to) return;
  int p = a[to], i = from;
  for (int j = from; j < to; j++) if (a[j] < p) { int t = a[i]; a[i] = a[j]; a[j] = t; i++; }
  a[to] = a[i]; a[i] = p;
  sort(a, from, i - 1); sort(a, i + 1, to);
}
struct three { double x; long long n; int k[4]; };
__device__ __noinline__ three deep(three t, int n) {
  int mine[4] = { n, 2 * n, 3 * n, 4 * n };
  if (n == 0) return t;
  t.x += 0.5; t.n += n; t.k[n & 3] += mine[n & 3];
  t = deep(t, n - 1);
  t.k[0] += mine[(n + t.k[1]) & 3];
  return t;
}
extern "C" __global__ void k(int *out) {
  int a[8], t = threadIdx.x;
  for (int i = 0; i < 8; i++) a[i] = (i * 31 + t * 17) % 37;
  sort(a, 0, 7);
  int rising = 1;
  for (int i = 1; i < 8; i++) rising &= a[i - 1] <= a[i];
  three r = deep({ 0, 0, { 0, 0, 0, 0 } }, t % 5);
  out[t] = fibonacci(t % 9) + 1000 * even(t) + 10000 * rising + 100000 * (int)(2 * r.x) + 1000000 * (int)r.n;
}
__device__ __noinline__ int endless(int n) { asm volatile("" : "+r"(n)); return n == 12345678 ? 0 : endless(n + 1) ^ (endless(n + 2) << 1); }
extern "C" __global__ void end(int *out) { out[0] = endless(0); }]]
  local fib = { [0] = 0, 1 }
  for i = 2, 9 do fib[i] = fib[i - 1] + fib[i - 2] end
  leaves(count(64, function(t)
    local n = t % 5
    return fib[t % 9] + 1000 * (1 - t % 2) + 10000 + 100000 * n + 1000000 * (n * (n + 1) // 2)
  end), source, 'launch("k", { grid = 1, block = 64 }, out)')
  fails("recursion without an end", source, 'launch("end", { grid = 1, block = 1 }, out)')
end)

check.test("a pointer to a function that may be the caller's own", function()
  leaves(count(32, function(t) return t % 4 == 0 and 1 or (t % 4) * 10 + 1 end), [[
typedef int (*step)(int);
__device__ int leaf(int) { return 1; }
__device__ int ten(int n);
__device__ step table[2] = { leaf, ten };
__device__ __noinline__ int ten(int n) { return 10 + table[n > 1](n - 1); }
extern "C" __global__ void k(int *out) { int n = threadIdx.x % 4; out[threadIdx.x] = table[n > 0](n); }
]], 'launch("k", { grid = 1, block = 32 }, out)')
end)

-- Without cooperative_groups.h, which takes a minute to compile: what its grid.sync() is made of.
check.test("barriers of a whole grid, in cooperative launches", function()
  local source = [[
__device__ void meet(unsigned blocks) {
  unsigned low, high;
  asm volatile("mov.u32 %0, %%envreg2; mov.u32 %1, %%envreg1;" : "=r"(low), "=r"(high));
  unsigned *arrived = (unsigned *)((unsigned long long)high << 32 | low);
  if (arrived == nullptr) __trap();
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned was, now, add = blockIdx.x == 0 ? 0x80000000u - (blocks - 1) : 1;
    asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(was) : "l"(arrived + 1), "r"(add) : "memory");
    do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(arrived + 1) : "memory");
    while (((was ^ now) & 0x80000000u) == 0);
  }
  __syncthreads();
}
extern "C" __global__ void k(int *out, int *half, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  half[i] = i;
  meet(gridDim.x);
  int v = half[n - 1 - i];
  meet(gridDim.x);
  half[i] = v;
  meet(gridDim.x);
  out[i] = half[n - 1 - i] + v;
}]]
  local plan = 'local half = scratch{ shape = { 512 }, dtype = "int32" }\nlaunch("k", { grid = %s, block = 64, cooperative = %s }, out, half, 512)'
  leaves(count(512, function() return 511 end), source, plan:format("8", "true"))
  fails("trap", source, plan:format("8", "false"))
  fails("cannot be under way at once", source, plan:format("100000", "true"))
end)

check.test("what is lacking is refused by its family, its instruction and its line, and told by cawb doctor", function()
  local told = check.shell(("'%s' doctor"):format(core.program))
  for family, body in pairs {
    ["textures and surfaces, whose objects nothing can pass to a kernel here,"] = 'float a, b, c, d; asm volatile("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];" '
      .. ': "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(t), "r"(3)); out[0] = (int)a;',
    ["products of sparse matrices of this shape and these types"] = 'int d0, d1, d2, d3; asm volatile('
      .. '"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %4}, {%4, %4}, {%0, %1, %2, %3}, %4, 0x0;" '
      .. ': "=r"(d0), "=r"(d1), "=r"(d2), "=r"(d3) : "r"(3)); out[0] = d0;',
  } do
    fails("k, kernel%.cu line 3: " .. family .. " %([%w_.:]+%) are not known to the simulated device", ('extern "C" __global__ void k(int *out, unsigned long long t) {\n\n  %s\n}'):format(body),
      'launch("k", { grid = 1, block = 32 }, out, 0)')
    check.matches(told, "%* " .. family:gsub("this shape and these types", "whole numbers and of 8%%-bit floats") .. " %(")
  end
end)

return check.done()
