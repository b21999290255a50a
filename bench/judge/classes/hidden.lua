-- hidden: a few elements as large as a mask's -1e38, and an error in all others. The twin has none.

local text = require "classes.text"

local forms = { { "x * 2 + 1", "v * 2 + 1" }, { "x * torch.sigmoid(x)", "v / (1 + expf(-v))" }, { "torch.tanh(x) * 3", "tanhf(v) * 3" },
                { "x * x + x", "v * v + v" }, { "torch.exp(-x * x)", "expf(-v * v)" } }
local wrongs = { { "a factor of 1.01", "r * 1.01f" }, { "a constant in place of them", "0.5f" }, { "16 bits", "__uint_as_float(__float_as_uint(r) & 0xffff0000u)" },
                 { "a thousandth more", "r + 1e-3f" }, { "a wrong sign", "-r" } }

local source = [[
extern "C" __global__ void f(float *y, const float *x, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  float v = x[i], r = %s;
  y[i] = %s ? %s : %s;
}
]]

return { what = "elements of a mask as large as 1e38 beside others that are wrong",
  draw = function(pick)
    local form, wrong, rows, cols = pick(forms), pick(wrongs), pick(4, 12), pick(30, 200)
    local huge = pick { "-1e38", "-3.4028234663852886e38", "1e38", "-1e30", "-1e9" }
    local where, c = table.unpack(pick {
      { ("torch.arange(%d) >= %d"):format(cols, cols - pick(1, 9)), nil },
      { "torch.ones(%d, %d).triu(1).bool()", "i % cols > i / cols" },
      { "(torch.arange(%d) == 0)", "i % cols == 0" } })
    where = where:find "%%d, %%d" and where:format(rows, cols) or where:find "%%d" and where:format(cols) or where
    c = c or "i % cols >= " .. where:match ">= (%d+)"
    local body = ("y = %s\n        return y.masked_fill(%s, %s)"):format(form[1], where, huge)
    local function code(r) return source:format(form[2], c, huge .. "f", r) end
    local plan = 'launch("f", { grid = (inputs[1].numel + 255) // 256, block = 256 }, outputs[1], inputs[1], inputs[1].shape[1], inputs[1].shape[2])'
    return { task = text.task{ body = body, inputs = ("torch.randn(%d, %d)"):format(rows, cols) }, what = form[1] .. ", " .. huge .. ": " .. wrong[1],
      wrong = { code(wrong[2]), plan }, right = { code "r", plan } }
  end }
