-- Baselines on a GPU: torch.compile and its search, TF32 where it makes a difference, a user's
-- file with a Triton kernel, another candidate of this kind; and files that are none.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local options = require "cawb.base.options"

local all = options.copy(cawb.defaults)
all.measure.budget = 0.3
local device <close> = assert(cawb.device "cuda:0")
local task <close> = assert(cawb.task("examples/matmul.py",
  { device = device, options = all, task = { m = 256, n = 256, k = 512 } }))

local function read(path)
  local f <close> = assert(io.open(path))
  return f:read "a"
end

local function rung(name)
  return cawb.candidate { name = name, source = read("kernels/matmul/" .. name .. ".cu"),
                          plan = read("kernels/matmul/" .. name .. ".lua") }
end

local function measured(against)
  local r = assert(cawb.measure(task, rung "v3_tiled", { against = against, options = all }))
  assert(r.ok, tostring(r.reason))
  return r
end

local triton = [[
import torch, triton, triton.language as tl

@triton.jit
def product(a, b, c, M, N, K, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    total = tl.zeros((B, B), dtype=tl.float32)
    for k in range(0, K, B):
        r = k + tl.arange(0, B)
        x = tl.load(a + i[:, None] * K + r[None, :], mask=(i[:, None] < M) & (r[None, :] < K), other=0.0)
        y = tl.load(b + r[:, None] * N + j[None, :], mask=(r[:, None] < K) & (j[None, :] < N), other=0.0)
        total += tl.dot(x, y, input_precision="ieee")
    tl.store(c + i[:, None] * N + j[None, :], total, mask=(i[:, None] < M) & (j[None, :] < N))

class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        c = torch.empty(a.shape[0], b.shape[1], device=a.device)
        grid = (triton.cdiv(a.shape[0], 32), triton.cdiv(b.shape[1], 32))
        product[grid](a, b, c, a.shape[0], b.shape[1], a.shape[1], B=32)
        return c
]]

check.test("every kind is timed, and knows its error", function()
  local kinds = { "eager", "compile", "max_autotune", "eager_tf32", "compile_tf32" }
  local r = measured(kinds)
  for _, kind in ipairs(kinds) do
    local b = task.baselines[kind]
    assert(b and not b.failed, kind .. ": " .. tostring(b and b.failed))
    assert(r.speedup[kind].median > 0 and b.time_s.median > 0, kind)
    local tf32 = kind:match "_tf32$" ~= nil
    check.equal(b.error.nrms > 1e-5, tf32, ("%s: error %g"):format(kind, b.error.nrms))
    print(("     %s %.3g us, error %.2g, set up in %.2g s"):format(kind, b.time_s.median * 1e6, b.error.nrms, b.setup_s))
  end
end)

check.test("a file with a Triton kernel", function()
  local path = check.write(check.folder() .. "/rival.py", triton)
  local kind = "file:" .. path
  local r = measured { kind }
  local b = task.baselines[kind]
  assert(not b.failed, b.failed)
  assert(b.error.nrms < 1e-5 and r.speedup[kind].median > 0)
end)

check.test("another candidate", function()
  local r = measured { rung "v1_naive" }
  local name = next(r.speedup)
  assert(r.speedup[name].median > 1 and r.speedup[name].verdict == "faster", r.speedup[name].verdict)
end)

check.test("a file that fails, or is wrong, is told and holds nobody up", function()
  for words, text in pairs {
    ["ModelNew or Model"] = "x = 1\n",
    ["boom"] = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, a, b): raise ValueError('boom')\n",
  } do
    local kind = "file:" .. check.write(check.folder() .. "/bad.py", text)
    local r = assert(cawb.measure(task, rung "v3_tiled", { against = { "eager", kind }, options = all }))
    assert(r.ok and r.speedup.eager and not r.speedup[kind])
    check.matches(task.baselines[kind].failed, words)
  end
end)

return check.done()
