-- sparse_code.lua - kernels of one mma.sp, whose operands each thread makes by the layouts of the PTX manual: of each four
-- columns of a row of A two are there (of tf32: of two one). And what they must leave.

local M = {}

-- Of each form: the chunks of a row, its elements that are there and those that are not.
M.forms = {
  { type = "f16", k = 16, sum = "f32" }, { type = "f16", k = 32, sum = "f32" },
  { type = "f16", k = 16, sum = "f16" }, { type = "f16", k = 32, sum = "f16" },
  { type = "bf16", k = 16, sum = "f32" }, { type = "bf16", k = 32, sum = "f32" },
  { type = "tf32", k = 8, sum = "f32" }, { type = "tf32", k = 16, sum = "f32" },
}

-- FACTOR makes a factor of a small whole number.
local before = [[
__device__ unsigned bits(float x) {
  unsigned r;
#if CODE == 0
  asm("{ .reg .b16 h; cvt.rn.f16.f32 h, %%1; mov.b32 %%0, {h, 0}; }" : "=r"(r) : "f"(x));
#elif CODE == 1
  r = __float_as_uint(x) >> 16;
#else
  r = __float_as_uint(x) & 0xffffe000u;
#endif
  return r;
}
__device__ unsigned pair(float x, float y) { return bits(x) | bits(y) << 16; }
__device__ int meta(int row, int chunk) {
  int i = (row * 7 + chunk * 3 + row * chunk) %% 6;
  return CODE == 2 ? (i & 1 ? 0xe : 0x4) : (0xedc984 >> 4 * i) & 15;
}
__device__ float a(int row, int chunk, int e) { return FACTOR((row * 5 + chunk * 3 + e * 2) %% 7 - 3, row + 16 * chunk + 256 * e); }
__device__ float b(int k, int n) { return FACTOR((k * 3 + n * 5) %% 9 - 4, 31 * k + n); }
extern "C" __global__ void k(unsigned *out) {
  int g = threadIdx.x / 4, t = threadIdx.x %% 4;
  unsigned x[4], y[4], e = 0xdeadbeef, d[4] = { 0, 0, 0, 0 };
  for (int r = 0; r < 4; r++) {
    int row = g + 8 * (r & 1), chunk = t + 4 * (r >> 1);
    x[r] = CODE == 2 ? bits(a(row, chunk, 0)) : pair(a(row, chunk, 0), a(row, chunk, 1));
    y[r] = CODE == 2 ? bits(b(t + 4 * r, g)) : pair(b(2 * t + 8 * r, g), b(2 * t + 8 * r + 1, g));
  }
  if (DEEP ? t / 2 == SELECTOR : t == SELECTOR) {
    e = 0;
    for (int i = 0; i < 4; i++) {
      int chunk = i + (DEEP ? 4 * (t & 1) : 0);
      e |= meta(g, chunk) << 4 * i | meta(g + 8, chunk) << (16 + 4 * i);
    }
  }
  for (int i = 0; i < 4; i++) {
    float c = FACTOR(g + 8 * (i / 2) - 2 * t - i %% 2, i);
#if SUMS == 4
    d[i] = __float_as_uint(c);
#else
    unsigned h;
    asm("{ .reg .b16 h; cvt.rn.f16.f32 h, %%1; mov.b32 %%0, {h, 0}; }" : "=r"(h) : "f"(c));
    d[i / 2] |= h << 16 * (i & 1);
#endif
  }
  %s
  for (int i = 0; i < SUMS; i++) out[threadIdx.x * SUMS + i] = d[i];
}]]

local function list(name, n)
  local t = {}
  for i = 0, n - 1 do t[#t + 1] = ('"%s"(%s[%d])'):format(name == "d" and "+r" or "r", name, i) end
  return table.concat(t, ", ")
end

local function places(first, n)
  local t = {}
  for i = first, first + n - 1 do t[#t + 1] = "%" .. i end
  return "{" .. table.concat(t, ", ") .. "}"
end

--- The source; `variant`: "sp" or "sp::ordered_metadata"; `factor`: of a small number v and a place i, as CUDA.
function M.source(form, variant, selector, factor)
  local deep = form.k * (form.type == "tf32" and 32 or 16) == 512
  local sums, n = form.sum == "f32" and 4 or 2, deep and 4 or 2
  local code = ('asm volatile("mma.%s.sync.aligned.m16n8k%d.row.col.%s.%s.%s.%s %s, %s, %s, %s, %%%d, %d;" : %s : %s, %s, "r"(e));'):format(variant,
    form.k, form.sum, form.type, form.type, form.sum, places(0, sums), places(sums, n), places(sums + n, n), places(0, sums), sums + 2 * n, selector,
    list("d", sums), list("x", n), list("y", n))
  local head = ("#define CODE %d\n#define DEEP %d\n#define SELECTOR %d\n#define SUMS %d\n#define FACTOR(v, i) (%s)\n"):format(
    form.type == "f16" and 0 or form.type == "bf16" and 1 or 2, deep and 1 or 0, selector, sums, factor or "(float)(v)")
  return head .. before:format(code), 32 * sums
end

local patterns = { [0] = { 0, 1 }, { 0, 2 }, { 1, 2 }, { 0, 3 }, { 1, 3 }, { 2, 3 } }

--- The sum at a row and a column where factors are small whole numbers.
function M.sum(form, row, n)
  local sum, tf32 = row - n, form.type == "tf32"
  for chunk = 0, form.k // (tf32 and 2 or 4) - 1 do
    local i = (row * 7 + chunk * 3 + row * chunk) % 6
    for e = 0, tf32 and 0 or 1 do
      local k = tf32 and 2 * chunk + (i & 1) or 4 * chunk + patterns[i][e + 1]
      sum = sum + ((row * 5 + chunk * 3 + e * 2) % 7 - 3) * ((k * 3 + n * 5) % 9 - 4)
    end
  end
  return sum
end

return M
