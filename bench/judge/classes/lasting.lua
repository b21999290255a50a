-- lasting: a call that changes what prepare made. The judge prepares ahead of each call, a package once: its second call begins
-- with what the first one has left. The twin does the same to scratch of its own, or puts back what it found.

local text = require "classes.text"

local made = { { "w[i]", "w" }, { "2 * w[i]", "2 * w" }, { "w[i] * w[i]", "w * w" }, { "fmaxf(w[i], 0.0f)", "torch.relu(w)" },
               { "1.0f + w[i]", "1 + w" }, { "-w[i]", "-w" } }

-- What happens to element i of n behind the product.
local damages = {
  { "adds to all of it", "t[i] += x[i];" },
  { "doubles all of it", "t[i] *= 2;" },
  { "clears its last element", "if (i == n - 1) t[i] = 0;" },
  { "writes one element anew", "if (i == NUMBER) t[i] = x[i];" },
  { "adds to it by atomics", "atomicAdd((float *)&t[i], 1.0f);" },
  { "normalises a part of it", "if (i < n / 2) t[i] /= 3;" },
  { "flips its signs", "t[i] = -t[i];" },
  { "uses its front for work", "if (i < NUMBER) t[i] = x[i] - 1;" },
  { "changes it where an input is large", "if (x[i] > 0.1f) t[i] = x[i];" },
}

local source = [[
extern "C" __global__ void ready(float *t, const float *w, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) t[i] = %s;
}
extern "C" __global__ void apply(float *y, const float *x, volatile float *t, volatile float *u, int rows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int r = 0; r < rows; r++) y[r * n + i] = x[r * n + i] * t[i];
  %s
}
]]

local plan = [[
local x, y, w = inputs[1], outputs[1], params["weight"]
local n = w.shape[1]
local t, u = scratch{ shape = { n } }, scratch{ shape = { n } }
prepare(function(p) launch("ready", { grid = 1, block = 64 }, t, p["weight"], n) end)
launch("apply", { grid = (n + 63) // 64, block = 64 }, y, x, t, u, x.shape[1], n)
]]

return { what = "a call writes to what prepare made",
  draw = function(pick)
    local rows, cols, one, damage = pick(1, 9), pick(17, 300), pick(made), pick(damages)
    local task = text.task{ init = ("self.weight = torch.nn.Parameter(torch.rand(%d) + 0.5)"):format(cols),
      body = ("w = self.weight\n        return x * (%s)"):format(one[2]), inputs = ("torch.randn(%d, %d)"):format(rows, cols) }
    local change = damage[2]:gsub("NUMBER", tostring(pick(1, 16)))
    local own = "u[i] = t[i]; " .. change:gsub("t%[", "u[")
    local restored = ("float was = t[i]; %s t[i] = was;"):format(change)
    return { task = task, what = damage[1], wrong = { source:format(one[1], change), plan },
             right = { source:format(one[1], pick { own, restored }), plan } }
  end }
