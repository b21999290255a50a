-- whole: outputs of whole numbers and truth values, right on the task's own inputs and wrong at the ends of a type, at halves, at
-- equal values, below zero, for NaN, or where a narrower type takes two numbers for one.

local text = require "classes.text"

local int = { int8 = "signed char", uint8 = "unsigned char", int32 = "int", int64 = "long long", bool = "bool", float32 = "float" }

-- Element by element: { what, input type, output type, PyTorch, wrong C, right C }; N is a number drawn for the task.
local each = {
  { "wraps where it should end", "float32", "int8", "torch.clamp(torch.round(x * N), -128, 127).to(torch.int8)",
    "(signed char)(int)rintf(x * N)", "(signed char)fminf(fmaxf(rintf(x * N), -128.f), 127.f)" },
  { "wraps where it should end", "float32", "uint8", "torch.clamp(torch.floor(x * N), 0, 255).to(torch.uint8)",
    "(unsigned char)(int)fmaxf(floorf(x * N), 0.f)", "(unsigned char)fminf(fmaxf(floorf(x * N), 0.f), 255.f)" },
  { "rounds halves up", "float32", "int32", "torch.round(torch.clamp(x, -N, N) * 4).to(torch.int32)",
    "(int)floorf(fminf(fmaxf(x, -N.f), N.f) * 4 + 0.5f)", "(int)rintf(fminf(fmaxf(x, -N.f), N.f) * 4)" },
  { "rounds halves away", "float32", "int64", "torch.round(torch.clamp(x, -N, N)).to(torch.int64)",
    "(long long)roundf(fminf(fmaxf(x, -N.f), N.f))", "(long long)rintf(fminf(fmaxf(x, -N.f), N.f))" },
  { "truncates below zero", "float32", "int32", "torch.floor(torch.clamp(x * 3, -N, N)).to(torch.int32)",
    "(int)(fminf(fmaxf(x * 3, -N.f), N.f))", "(int)floorf(fminf(fmaxf(x * 3, -N.f), N.f))" },
  { "takes equal for larger", "float32", "bool", "x > 0.N", "x >= 0.Nf", "x > 0.Nf" },
  { "takes equal for smaller", "float32", "bool", "(x < 0.N) & (x >= -0.N)", "x < 0.Nf && x > -0.Nf", "x < 0.Nf && x >= -0.Nf" },
  { "has no NaN", "float32", "bool", "torch.isnan(x) | (x > 0.N)", "x > 0.Nf", "x != x || x > 0.Nf" },
  { "takes NaN for smaller", "float32", "bool", "~(x >= 0.N)", "x < 0.Nf", "!(x >= 0.Nf)" },
  { "multiplies in double", "int64", "int64", "x * N + 1", "(long long)((double)x * N + 1)", "x * N + 1" },
  { "compares in double", "int64", "bool", "x > N", "(double)x > N || x < -N", "x > N" },
  { "adds in float", "int32", "int32", "x + N", "(int)((float)x + N)", "x + N" },
  { "divides towards zero", "int32", "int32", "torch.div(x, N, rounding_mode='floor')", "x / N", "(x / N) - ((x % N != 0) && (x < 0))" },
  { "has no remainder below zero", "int64", "int64", "torch.remainder(x, N)", "x % N", "((x % N) + N) % N" },
  { "forgets the sign", "int64", "int64", "torch.sign(x) * N", "x > 0 ? N : 0", "x > 0 ? N : x < 0 ? -N : 0" },
  { "shifts for a division", "int32", "bool", "(x % 2) == 1", "x % 2 == 1", "(x & 1) == 1" },
}

local per_element = [[
extern "C" __global__ void f(%s *y, const %s *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  %s x = in[i];
  y[i] = %s;
}
]]

-- Of a row: { what, input type, output type, PyTorch, beginning, wrong beginning, step, wrong step, result }.
local lines = {
  { "begins a maximum at 0", "int64", "int64", "x.amax(1)", "long long a = row[0];", "long long a = 0;", "a = row[i] > a ? row[i] : a;" },
  { "begins a maximum at 0", "int32", "int32", "x.amax(1)", "int a = row[0];", "int a = 0;", "a = row[i] > a ? row[i] : a;" },
  { "begins a minimum at a large number", "int64", "int64", "x.amin(1)", "long long a = row[0];", "long long a = 1 << 30;", "a = row[i] < a ? row[i] : a;" },
  { "adds up in double", "int64", "int64", "x.sum(1)", "long long a = 0;", "double a = 0;", "a += row[i];" },
  { "adds up in float", "int32", "int64", "x.sum(1)", "long long a = 0;", "float a = 0;", "a += row[i];" },
  { "adds up in int", "int32", "int64", "x.sum(1)", "long long a = 0;", "int a = 0;", "a += row[i];" },
  { "counts what is above 0 for what is not 0", "int32", "int64", "(x != 0).sum(1)", "long long a = 0;", nil, "a += row[i] != 0;", "a += row[i] > 0;" },
  { "counts no NaN", "float32", "int64", "(torch.isnan(x) | (x > 0)).sum(1)", "long long a = 0;", nil, "a += row[i] != row[i] || row[i] > 0;", "a += row[i] > 0;" },
  { "counts equals", "float32", "int64", "(x > 0).sum(1)", "long long a = 0;", nil, "a += row[i] > 0;", "a += row[i] >= 0;" },
}

local per_row = [[
extern "C" __global__ void f(%s *y, const %s *in, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const %s *row = in + (long long)r * cols;
  %s
  for (int i = 0; i < cols; i++) { %s }
  y[r] = a;
}
]]

local function inputs_of(dtype, pick, rows, cols)
  if dtype == "float32" then return ("torch.randn(%d, %d)"):format(rows, cols) end
  local high = pick { 300, 1000 }
  return ("torch.randint(0, %d, (%d, %d), dtype=torch.%s)"):format(high, rows, cols, dtype)
end

local function draw_each(pick)
  local one, n, rows, cols = pick(each), pick { 2, 3, 5, 7 }, pick(4, 12), pick(16, 90)
  local function put(s) return (s:gsub("%f[%w]N%f[%W]", tostring(n)):gsub("0%.N", "0." .. n):gsub("N%.f", n .. ".f")) end
  local to, from = int[one[3]], int[one[2]]
  local function code(expression) return per_element:format(to, from, from, put(expression)) end
  return { what = one[1] .. ": " .. put(one[4]), wrong = code(one[5]), right = code(one[6]), body = put(one[4]),
           inputs = inputs_of(one[2], pick, rows, cols), plan = "inputs[1].numel" }
end

local function draw_line(pick)
  local one, rows, cols = pick(lines), pick(4, 40), pick(16, 90)
  local to, from = int[one[3]], int[one[2]]
  return { what = one[1] .. ": " .. one[4], body = one[4], inputs = inputs_of(one[2], pick, rows, cols), plan = "inputs[1].shape[1], inputs[1].shape[2]",
           wrong = per_row:format(to, from, from, one[6] or one[5], one[8] or one[7]), right = per_row:format(to, from, from, one[5], one[7]) }
end

-- With an output of floats besides, which is right.
local beside = [[
extern "C" __global__ void beside(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
]]

return { what = "outputs of whole numbers and truth values that are wrong where the task's own inputs do not go",
  draw = function(pick)
    local d = (pick(1, 3) < 3 and draw_each or draw_line)(pick)
    local plan = ('launch("f", { grid = (inputs[1].numel + 63) // 64, block = 64 }, outputs[1], inputs[1], %s)\n'):format(d.plan)
    local task = { body = "return " .. d.body, inputs = d.inputs }
    if pick(1, 2) == 1 then
      task.args, task.body, task.inputs = "x, z", ("return %s, 2 * z"):format(d.body), d.inputs .. ", torch.randn(5, 33)"
      d.wrong, d.right, d.what = d.wrong .. beside, d.right .. beside, d.what .. ", beside floats"
      plan = plan .. 'launch("beside", { grid = 3, block = 64 }, outputs[2], inputs[2], 165)\n'
    end
    return { task = text.task(task), what = d.what, wrong = { d.wrong, plan }, right = { d.right, plan } }
  end }
