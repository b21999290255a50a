-- owntype: forwards that ask for their type: an rms_norm() without eps, finfo(x.dtype), nan_to_num(). The wrong kernel leaves the constant out
-- or takes another type's; the twin takes that of the task.

local text = require "classes.text"

local norm = [[
extern "C" __global__ void f(float *y, const float *x, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  x += r * cols, y += r * cols;
  float sum = 0;
  for (int i = 0; i < cols; i++) sum += x[i] * x[i];
  float by = FORM;
  for (int i = 0; i < cols; i++) y[i] = x[i] * by;
}
]]
local each = [[
extern "C" __global__ void f(float *y, const float *x, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  float v = x[i];
  y[i] = FORM;
}
]]
local norms = {
  { "F.rms_norm(x, (x.shape[1],))", "rsqrtf(sum / cols + EPS)" },
  { "x / torch.sqrt((x * x).mean(1, keepdim=True) + torch.finfo(x.dtype).eps)", "1 / sqrtf(sum / cols + EPS)" },
  { "x / (x * x).sum(1, keepdim=True).sqrt().clamp(min=torch.finfo(x.dtype).eps)", "1 / (sqrtf(sum) < EPS ? EPS : sqrtf(sum))" },
  { "x * torch.rsqrt((x * x).mean(1, keepdim=True) + 64 * torch.finfo(x.dtype).eps)", "rsqrtf(sum / cols + 64 * EPS)" },
}
local eps = { wrong = { "0.f", "2.220446e-16f", "1e-5f", "9.765625e-4f" }, right = "1.1920929e-7f" }

return { what = "constants that follow from the task's type",
  draw = function(pick)
    local rows, cols, small = pick(6, 20), pick(20, 90), pick { "1e-4", "1e-3", "3e-4" }
    local plan = 'launch("f", { grid = (inputs[1].numel + 63) // 64, block = 64 }, outputs[1], inputs[1], inputs[1].shape[1], inputs[1].shape[2])'
    local inputs, form, wrong = ("torch.randn(%d, %d) * %s"):format(rows, cols, small), pick(norms), pick(eps.wrong)
    if pick(1, 4) == 1 then
      local n = pick { 2, 3, 5 }
      return { task = text.task{ body = ("return torch.nan_to_num(1 / torch.relu(x) * 0 + %d / torch.relu(x))"):format(n):gsub("1 / torch.relu%(x%) %* 0 %+ ", ""), inputs = inputs },
        what = "nan_to_num() with another type's bounds", wrong = { (each:gsub("FORM", ("v > 0 ? %d / v : %s"):format(n, pick { "1e38f", "65504.f", "0.f" }))), plan },
        right = { (each:gsub("FORM", ("v > 0 ? %d / v : v != v ? 0.f : 3.40282347e38f"):format(n))), plan } }
    end
    local function code(e) return (norm:gsub("FORM", (form[2]:gsub("EPS", e)))) end
    return { task = text.task{ body = "return " .. form[1], inputs = inputs }, what = form[1] .. " with " .. wrong,
      wrong = { code(wrong), plan }, right = { code(eps.right), plan } }
  end }
