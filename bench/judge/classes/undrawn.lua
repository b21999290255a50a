-- undrawn: what a task's own generator holds fixed: no number near zero, no first and last row of a table, the same length
-- throughout, a mask of which a part tells all. The twin computes it all.

local text = require "classes.text"

local function table_task(pick)
  local rows, cols, count, end_ = pick(3000, 9000), pick(4, 9), pick(10, 40), pick { "first", "last" }
  local source = [[
extern "C" __global__ void f(float *y, const float *w, const long long *ids, int count, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count * cols) return;
  long long id = ids[i / cols];
  y[i] = %s;
}
]]
  local wrong = { first = "id < 1 ? 0.f : w[id * cols + i % cols]", last = "id >= rows - 1 ? w[i % cols] : w[id * cols + i % cols]" }
  return { task = text.task{ init = ("self.table = torch.nn.Embedding(%d, %d)"):format(rows, cols), body = "return self.table(x)",
      inputs = ("torch.randint(0, %d, (%d,))"):format(rows, count) }, what = ("a table without its %s row"):format(end_),
    wrong = { (source:gsub("%%s", (wrong[end_]:gsub("%%", "%%%%")))) }, right = { (source:gsub("%%s", "w[id * cols + i %% cols]")) },
    plan = 'launch("f", { grid = (outputs[1].numel + 63) // 64, block = 64 }, outputs[1], params["table.weight"], inputs[1], inputs[1].numel, ' .. rows
      .. ", " .. cols .. ")" }
end

local function small_task(pick)
  local limit, form = pick { 14, 16, 18 }, pick { { "torch.log2(x.abs() + 1e-30)", "log2f(fabsf(v) + 1e-30f)" }, { "torch.sign(x) * 2", "v > 0 ? 2.f : v < 0 ? -2.f : 0.f" },
    { "x * 3", "v * 3" }, { "torch.tanh(x)", "tanhf(v)" } }
  local source = [[
extern "C" __global__ void f(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  %s
  y[i] = %s;
}
]]
  return { task = text.task{ body = "return " .. form[1], inputs = ("torch.randn(%d, %d)"):format(pick(16, 40), pick(40, 200)) },
    what = ("%s: numbers below 2^-%d are none"):format(form[1], limit), wrong = { source:format(("if (fabsf(v) < 0x1p-%df) v = 0;"):format(limit), form[2]) },
    right = { source:format("", form[2]) }, plan = 'launch("f", { grid = (inputs[1].numel + 255) // 256, block = 256 }, outputs[1], inputs[1], inputs[1].numel)' }
end

local function length_task(pick)
  local rows, cols = pick(6, 30), pick(8, 60)
  local source = [[
extern "C" __global__ void f(float *y, const float *x, const long long *lengths, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  long long n = %s;
  float sum = 0;
  for (int i = 0; i < cols; i++) sum += i < n ? x[r * cols + i] : 0.f;
  y[r] = sum;
}
]]
  return { task = text.task{ args = "x, lengths", body = ("mask = torch.arange(%d) < lengths[:, None]\n        return torch.where(mask, x, torch.zeros(())).sum(1)"):format(cols),
      inputs = ("torch.randn(%d, %d), torch.full((%d,), %d)"):format(rows, cols, rows, cols) },
    what = "lengths that are always full", wrong = { source:format(pick { "cols", "lengths[0]", "lengths[r] * 0 + cols" }) }, right = { source:format "lengths[r]" },
    plan = 'launch("f", { grid = 1, block = 64 }, outputs[1], inputs[1], inputs[2], inputs[1].shape[1], inputs[1].shape[2])' }
end

local function mask_task(pick)
  local rows, cols = pick(6, 30), pick(8, 60)
  local source = [[
extern "C" __global__ void f(float *y, const float *x, const bool *mask, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  y[i] = %s ? x[i] : 0.f;
}
]]
  local wrong = pick { "mask[i % cols]", "mask[i / cols * cols]", "(i % cols == cols - 1 || mask[i])", "(mask[i] || mask[i / cols * cols + (cols - 1)])",
                       "mask[i / cols * cols + i % cols / 2]" }
  local given = pick { ("torch.ones(%d, %d).tril().bool()"):format(rows, cols), ("(torch.arange(%d) < %d).expand(%d, %d).contiguous()"):format(cols, cols - 2, rows, cols),
                       ("torch.rand(%d, %d) < 0.9"):format(rows, cols) }
  return { task = text.task{ args = "x, mask", body = "return torch.where(mask, x, torch.zeros(()))", inputs = ("torch.randn(%d, %d), %s"):format(rows, cols, given) },
    what = "a part of a mask: " .. wrong, wrong = { (source:gsub("%%s", (wrong:gsub("%%", "%%%%")))) }, right = { (source:gsub("%%s", "mask[i]")) },
    plan = 'launch("f", { grid = (inputs[1].numel + 63) // 64, block = 64 }, outputs[1], inputs[1], inputs[2], inputs[1].shape[1], inputs[1].shape[2])' }
end

return { what = "what a task's own generator never varies",
  draw = function(pick)
    local d = pick { table_task, small_task, length_task, mask_task } (pick)
    d.wrong[2], d.right[2] = d.plan, d.plan
    return d
  end }
