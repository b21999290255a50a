-- small: elements far below the others of an output, each off for its own size. The twin computes all alike.

local text = require "classes.text"

local source = [[
extern "C" __global__ void f(float *y, const float *x, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  x += r * cols, y += r * cols;
  float top = -INFINITY, sum = 0;
  for (int i = 0; i < cols; i++) top = fmaxf(top, x[i]);
  for (int i = 0; i < cols; i++) sum += expf(x[i] - top);
  for (int i = 0; i < cols; i++) {
    float v = expf(x[i] - top) / sum;
    y[i] = %s;
  }
}
]]
local each = [[
extern "C" __global__ void f(float *y, const float *x, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  float v = %s;
  y[i] = %s;
}
]]
local forms = { { "torch.softmax(x * SCALE, 1)", nil, 1 }, { "torch.exp(x * 3)", "expf(x[i] * 3)" }, { "torch.sigmoid(x * 4)", "1 / (1 + expf(-x[i] * 4))" },
                { "torch.softmax(x * SCALE, 1)", nil, 1 } }

return { what = "elements far below the others that are off for their own size",
  draw = function(pick)
    local form, rows, cols, off = pick(forms), pick(16, 64), pick(64, 300), pick(10, 60) / 10000
    local scale, limit = pick { 4, 6, 8 }, pick { "1e-6f", "1e-5f", "3e-6f" }
    local bad = pick { ("v < %s ? v * %.5ff : v"):format(limit, 1 + off), ("v < %s ? v * %.5ff : v"):format(limit, 1 - off),
                       ("v < %s ? __uint_as_float(__float_as_uint(v) & 0xffffc000u) : v"):format(limit) }
    local grid = form[2] and "(inputs[1].numel + 255) // 256" or "1"
    local function code(r)
      if form[2] then return each:format(form[2], r) end
      return (source:gsub("x%[i%]", "(SCALE * x[i])"):gsub("SCALE", scale .. ".f"):format(r))
    end
    local plan = ('launch("f", { grid = %s, block = 256 }, outputs[1], inputs[1], inputs[1].shape[1], inputs[1].shape[2])'):format(grid)
    return { task = text.task{ body = "return " .. form[1]:gsub("SCALE", scale), inputs = ("torch.randn(%d, %d)"):format(rows, cols) },
      what = form[1] .. ": " .. bad, wrong = { code(bad), plan }, right = { code "v", plan } }
  end }
