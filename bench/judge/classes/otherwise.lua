-- otherwise: exact arithmetic that is not PyTorch's. The twin adds whole numbers (fixed point, scaled by each row's largest), or multiplies
-- by Strassen's formulas, judged by the norm (configs/tolerance-norm.lua). The wrong kernel does the same with too few bits, or a wrong term.

local text = require "classes.text"

local fixed = [[
extern "C" __global__ void f(float *y, const float *x, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x, e = 0;
  if (r >= rows) return;
  x += r * cols;
  float top = 0;
  bool odd = false;
  for (int i = 0; i < cols; i++) top = fmaxf(top, fabsf(x[i])), odd |= x[i] != x[i];
  frexpf(top, &e);
  long long sum = 0;
  for (int i = 0; i < cols; i++) sum += (long long)rintf(ldexpf(x[i], BITS - e));
  float all = (float)ldexp((double)sum, e - BITS);
  y[r] = odd ? NAN : FORM;
}
]]
local sums = { { "x.sum(1)", "all" }, { "x.mean(1)", "all / cols" }, { "3 * x.sum(1) + 1", "3 * all + 1" } }

local function draw_sum(pick)
  local one, rows, cols = pick(sums), pick(20, 60), pick(60, 400)
  local function code(bits) return (fixed:gsub("BITS", tostring(bits)):gsub("FORM", one[2])) end
  local bits = pick(8, 15)
  return { task = text.task{ body = "return " .. one[1], inputs = ("torch.randn(%d, %d)"):format(rows, cols) }, what = ("%s in fixed point of %d bits"):format(one[1], bits),
    plan = ('launch("f", { grid = 1, block = 64 }, outputs[1], inputs[1], %d, %d)'):format(rows, cols), wrong = code(bits), right = code(pick(26, 44)) }
end

-- One level: each thread makes an element of each of the seven products.
local strassen = [[
#define N %d
#define H (N / 2)
__device__ float kept(float v) { return %s; }
__device__ float product(const float *a, const float *c, float s, const float *b, const float *d, float t, int i, int j) {
  float sum = 0;
  for (int k = 0; k < %s; k++)
    sum += kept(a[i * N + k] + (c ? s * c[i * N + k] : 0)) * kept(b[k * N + j] + (d ? t * d[k * N + j] : 0));
  return sum;
}
extern "C" __global__ void f(float *y, const float *a, const float *b) {
  int at = blockIdx.x * blockDim.x + threadIdx.x, i = at / H, j = at %% H;
  if (at >= H * H) return;
  const float *a11 = a, *a12 = a + H, *a21 = a + H * N, *a22 = a21 + H, *b11 = b, *b12 = b + H, *b21 = b + H * N, *b22 = b21 + H;
  float m1 = product(a11, a22, 1, b11, b22, 1, i, j), m2 = product(a21, a22, 1, b11, 0, 0, i, j), m3 = product(a11, 0, 0, b12, b22, -1, i, j),
        m4 = product(a22, 0, 0, b21, b11, -1, i, j), m5 = product(a11, a12, 1, b22, 0, 0, i, j),
        m6 = product(a21, a11, -1, b11, b12, 1, i, j), m7 = product(a12, a22, -1, b21, b22, 1, i, j);
  y[i * N + j] = %s;
  y[i * N + j + H] = m3 + m5;
  y[(i + H) * N + j] = m2 + m4;
  y[(i + H) * N + j + H] = m1 - m2 + m3 + m6;
}
]]
local sum = "m1 + m4 - m5 + m7"
local mistakes = { { "factors of 10 bits", "__uint_as_float(__float_as_uint(v) & 0xffffe000u)", "H", sum }, { "factors of 7 bits", "__uint_as_float(__float_as_uint(v) & 0xffff0000u)", "H", sum },
                   { "the last term is left out", "v", "H - 1", sum }, { "a wrong sign", "v", "H", "m1 + m4 + m5 + m7" }, { "a product is left out", "v", "H", "m1 + m4 - m5" } }

local function draw_product(pick)
  local n, mistake = 2 * pick(12, 56), pick(mistakes)
  local threads = (n // 2) ^ 2 // 1 | 0
  return { config = "tolerance-norm", task = text.task{ args = "a, b", body = "return a @ b", inputs = ("torch.randn(%d, %d), torch.randn(%d, %d)"):format(n, n, n, n) },
    what = "Strassen's formulas: " .. mistake[1], plan = ('launch("f", { grid = %d, block = 64 }, outputs[1], inputs[1], inputs[2])'):format((threads + 63) // 64),
    wrong = strassen:format(n, mistake[2], mistake[3], mistake[4]), right = strassen:format(n, "v", "H", sum) }
end

return { what = "exact arithmetic that is not PyTorch's, with too few bits or a wrong term",
  draw = function(pick)
    local d = (pick(1, 2) == 1 and draw_sum or draw_product)(pick)
    d.wrong, d.right = { d.wrong, d.plan }, { d.right, d.plan }
    return d
  end }
