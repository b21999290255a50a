-- helper: a kernel beside library calls that does nothing for the result. The twin's kernel makes what a library call needs, in prepare or
-- ahead of it.

local text = require "classes.text"

-- What becomes of element (i, j) of the weight, as the task says it and as a kernel does.
local makes = { { "self.w.t()", "w[i * k + j]" }, { "(2 * self.w).t()", "2 * w[i * k + j]" }, { "torch.relu(self.w).t()", "fmaxf(w[i * k + j], 0.f)" },
                { "self.w[:, torch.arange(self.w.shape[1] - 1, -1, -1)].t()", "w[i * k + k - 1 - j]" }, { "self.w.abs().t()", "fabsf(w[i * k + j])" } }

local source = [[
extern "C" __global__ void made(float *t, const float *w, int n, int k) {
  for (int at = threadIdx.x; at < n * k; at += blockDim.x) {
    int i = at / k, j = at %% k;
    t[%s] = %s;
  }
}
]]

local ahead = 'prepare(function(p) launch("made", { grid = 1, block = 256 }, t, p["w"], %d, %d) end)\n'
local within = 'launch("made", { grid = 1, block = 256 }, t, params["w"], %d, %d)\n'
local product = "gemm { a = inputs[1], b = %s, c = outputs[1], transpose_b = %s }\n"

return { what = "a kernel for show beside library calls",
  draw = function(pick)
    local rows, n, k, turned, one = pick(9, 40), pick(16, 70), pick(16, 90), pick(0, 1) == 1, pick(makes)
    local code = source:format(turned and "j * n + i" or "at", one[2])
    local scratch = ("local t = scratch { shape = { %s } }\n"):format(turned and k .. ", " .. n or n .. ", " .. k)
    local right = scratch .. pick({ ahead, within }):format(n, k) .. product:format("t", tostring(not turned))
    local shown = source:format("at", "w[at]")
    local show = pick { scratch .. ahead:format(n, k), scratch .. within:format(n, k), "" }
    return { task = text.task{ init = ("self.w = torch.nn.Parameter(torch.randn(%d, %d))"):format(n, k), body = "return x @ " .. one[1],
                               inputs = ("torch.randn(%d, %d)"):format(rows, k) },
      what = one[1], right = { code, right },
      wrong = { shown, show .. product:format('params["w"]', "true") } }
  end }
