-- Python candidates on a GPU: Triton, load_inline and nvcc by hand in the jail, and what
-- only a GPU makes possible.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local evaluate = require "cawb.judge.evaluate"
local options = require "cawb.base.options"

local device <close> = assert(cawb.device "cuda:0")
local all = options.copy(cawb.defaults)
all.task, all.tier2.jail = { rows = 4096, cols = 4096 }, os.getenv "CAWB_TEST_JAIL" or "auto"
local task <close> = assert(cawb.task("examples/softmax.py", { device = device, options = all }))

-- Ahead of every file: rows(x), the softmax of rows by operators that no rule forbids.
local prelude = [[
import torch

def rows(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)

]]

local function judged(text, against)
  local facts, message = evaluate.candidate(task, cawb.candidate { python = prelude .. text }, all,
    { trials = 3, samples = 20, against = against or {} })
  return assert(facts, message)
end

local function tell(facts)
  local words = { facts.ok and "pass" or facts.stage .. ": " .. facts.reason }
  if facts.time_s then words[#words + 1] = ("%.1f us"):format(facts.time_s.median * 1e6) end
  for name, s in pairs(facts.speedup or {}) do
    words[#words + 1] = ("%s %.2fx [%.2f, %.2f] in %d rounds"):format(name, s.median, s.lo, s.hi or math.huge, s.rounds)
  end
  words[#words + 1] = ("made in %.2f s"):format(facts.seconds.compile)
  print("     " .. table.concat(words, ", "))
end

local function passes(what, text, against)
  check.test(what, function()
    local facts = judged(text, against)
    tell(facts)
    assert(facts.ok, facts.reason)
  end)
end

local function rejected(what, text, pattern)
  check.test(what, function()
    local facts = judged(text)
    tell(facts)
    assert(not facts.ok, "it passed")
    check.matches(facts.reason, pattern)
  end)
end

local honest = [[
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return rows(x)
]]

passes("PyTorch's operators, against PyTorch", honest, { "eager" })

passes("Triton", [[
import torch
import triton
import triton.language as tl

@triton.jit
def softmax(y, x, cols, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + at, mask=at < cols, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * cols + at, e / tl.sum(e, 0), mask=at < cols)

class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        softmax[(x.shape[0],)](y, x, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
]], { "eager", "compile" })

local kernel = [[
__global__ void softmax_rows(float *y, const float *x, int cols) {
  __shared__ float part[32];
  const float *in = x + (size_t)blockIdx.x * cols;
  float *out = y + (size_t)blockIdx.x * cols;
  float top = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) top = fmaxf(top, in[c]);
  for (int s = 16; s > 0; s /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, s));
  if (threadIdx.x %% 32 == 0) part[threadIdx.x / 32] = top;
  __syncthreads();
  for (int w = 0; w < blockDim.x / 32; w++) top = fmaxf(top, part[w]);
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(in[c] - top);
  for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(~0u, sum, s);
  if (threadIdx.x %% 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < blockDim.x / 32; w++) sum += part[w];
  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] = expf(in[c] - top) / sum;
}
]]

check.test("load_inline with nvcc, where there is ninja", function()
  local _, status = check.shell "command -v ninja || python3 -c 'import ninja'"
  if status ~= 0 then return print "     no ninja here" end
  local facts = judged((([[
import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
]] .. kernel .. [[
torch::Tensor run(torch::Tensor x) {
  auto y = torch::empty_like(x);
  softmax_rows<<<x.size(0), 256>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1));
  return y;
}
"""
extension = load_inline("softmax_extension", "torch::Tensor run(torch::Tensor x);", CUDA,
                        functions=["run"], verbose=True)

class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.run(x)
]]):gsub("%%%%", "%%")), { "eager" })
  tell(facts)
  assert(facts.ok, facts.reason)
end)

passes("nvcc by hand", (([[
import ctypes, os, subprocess, tempfile
import torch

CUDA = r"""
]] .. kernel .. [[
extern "C" int run(void *y, const void *x, int rows, int cols, void *stream) {
  softmax_rows<<<rows, 256, 0, (cudaStream_t)stream>>>((float *)y, (const float *)x, cols);
  return cudaGetLastError();
}
"""
folder = tempfile.mkdtemp()
with open(folder + "/k.cu", "w") as file:
    file.write(CUDA)
subprocess.check_call(["nvcc", "-O3", "-arch=sm_90", "--shared", "-Xcompiler", "-fPIC", "-o",
                       folder + "/k.so", folder + "/k.cu"])
library = ctypes.CDLL(folder + "/k.so")

class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        assert library.run(ctypes.c_void_p(y.data_ptr()), ctypes.c_void_p(x.data_ptr()),
                           x.shape[0], x.shape[1],
                           ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)) == 0
        return y
]]):gsub("%%%%", "%%")), { "eager" })

rejected("a side stream whose work nobody waits for", [[
import torch
torch.cuda.synchronize = lambda *_: None
side = torch.cuda.Stream()

class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.zeros_like(x)
        torch.cuda.current_stream().synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(40000000)
            y.copy_(rows(x))
        return y
]], "outputs%[1%]")

rejected("a CUDA graph replayed on the inputs that it was captured with", [[
import torch

class ModelNew(torch.nn.Module):
    graph = None

    def forward(self, x):
        if self.graph is None:
            self.x = x.clone()
            self.graph = torch.cuda.CUDAGraph()
            torch.cuda.synchronize()
            with torch.cuda.graph(self.graph):
                self.y = rows(self.x)
        self.graph.replay()
        return self.y
]], "outputs%[1%]")

passes("a CUDA graph that copies its inputs in", [[
import torch

class ModelNew(torch.nn.Module):
    graph = None

    def forward(self, x):
        if self.graph is None:
            self.x = x.clone()
            self.graph = torch.cuda.CUDAGraph()
            torch.cuda.synchronize()
            with torch.cuda.graph(self.graph):
                self.y = rows(self.x)
        self.x.copy_(x)
        self.graph.replay()
        return self.y
]])

rejected("freed memory of the call before", [[
import torch

class ModelNew(torch.nn.Module):
    calls = 0

    def forward(self, x):
        self.calls += 1
        return rows(x) if self.calls == 1 else torch.empty_like(x)
]], "outputs%[1%]")

rejected("an address that is nobody's", [[
import torch

class ModelNew(torch.nn.Module):
    def forward(self, x):
        at = torch.full((1,), 1 << 40, device=x.device)
        return x.view(-1)[at].expand(x.shape)
]], ".")

check.test("the GPU works after all of that, for kernels too", function()
  local facts = judged(honest)
  assert(facts.ok, facts.reason)
  for _, family in ipairs(cawb.families()) do
    if family.name == "softmax" then
      local again = assert(evaluate.candidate(task, family:rung(1, task), all, { trials = 1, against = {} }))
      assert(again.ok, again.reason)
    end
  end
end)

return check.done()
