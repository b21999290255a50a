-- A task's own list of what candidates must not use: what executes is held against it, under every
-- set of rules, for kernels with their plans and for Python candidates. Beside each that is refused an honest one.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local file = require "cawb.base.file"
local evaluate = require "cawb.judge.evaluate"
local options = require "cawb.base.options"
local python = require "cawb.base.python"

local host = { assert(python.start(cawb.defaults.deadlines.start)) }     -- one task after the other
local simulated <close> = assert(cawb.device "sim:h100")
local processor <close> = assert(cawb.device "cpu")
local folder = check.folder()

local form = [[
import torch

forbidden = %s

class Model(torch.nn.Module):
    def forward(self, a, b):
        return torch.softmax(a @ b, -1)

def get_inputs():
    return [torch.randn(24, 40), torch.randn(40, 48)]

def get_init_inputs():
    return []
]]

local function with(set)
  local all = options.copy(cawb.defaults)
  all.rules, all.measure.against, all.measure.budget, all.verify.battery = set or "off", {}, 0.05, {}
  return all
end

local function open(list, device, set)
  return cawb.task(check.write(folder .. "/t.py", form:format(list)), { device = device, options = with(set), host = host })
end

local function judged(list, device, candidate, set)
  local task <close> = assert(open(list, device, set))
  return assert(evaluate.candidate(task, cawb.candidate(candidate), with(set), { trials = 1, samples = 2, repeats = 0, battery = {} }))
end

local function refused(entry, why, list, device, candidate, set)
  local facts = judged(list, device, candidate, set)
  check.equal(facts.ok, false)
  check.equal(facts.rule, "task_forbids", facts.reason)
  assert(facts.reason:find(("the task forbids '%s': "):format(entry), 1, true), facts.reason)
  check.matches(facts.reason, why)
end

-- ---- kernels and plans

local softmax = [[
extern "C" __global__ void softmax(float *y, const float *x, int n) {
  __shared__ float sum;
  const float *row = x + blockIdx.x * n;
  float top = row[0];
  for (int i = 1; i < n; i++) top = fmaxf(top, row[i]);
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  float e = expf(row[threadIdx.x] - top);
  ADD
  __syncthreads();
  y[blockIdx.x * n + threadIdx.x] = e / sum;
}
extern "C" __global__ void product(float *c, const float *a, const float *b, int k, int n) {
  float sum = 0;
  for (int i = 0; i < k; i++) sum += a[blockIdx.x * k + i] * b[i * n + threadIdx.x];
  c[blockIdx.x * n + threadIdx.x] = sum;
}
]]
local atomic, plain = "atomicAdd(&sum, e);", "if (threadIdx.x == 0) for (int i = 0; i < n; i++) sum += expf(row[i] - top);"
local own = [[
local a, b, y = inputs[1], inputs[2], outputs[1]
local m, k, n = a.shape[1], a.shape[2], b.shape[2]
local c = scratch{ shape = { m, n }, dtype = "float32" }
MULTIPLY
launch("softmax", { grid = m, block = n }, y, c, n)
]]
local launched, library = 'launch("product", { grid = m, block = n }, c, a, b, k, n)', "gemm{ a = a, b = b, c = c }"
local function kernel(add, multiply)
  return { source = check.edit(softmax, "ADD", add), plan = check.edit(own, "MULTIPLY", multiply) }
end

check.test("a plan's library call, under any set of rules; kernels of its own pass", function()
  local step = "step 1 of the plan is a library call, gemm"
  refused("any library", step, '["any library"]', simulated, kernel(plain, library), "strict")
  refused("any product", step, '("any product",)', simulated, kernel(plain, library))
  refused("linear", step, '["torch.nn.functional.linear"]', simulated, kernel(plain, library))
  local facts = judged('["any library", "any product", "torch.softmax"]', simulated, kernel(plain, launched), "strict")
  assert(facts.ok, facts.reason)
  facts = judged('["conv2d", "any normalization"]', simulated, kernel(plain, library))
  assert(facts.ok, facts.reason)
end)

check.test("what its own kernels are made of: the PTX that was built", function()
  refused("any atomics", "its kernels have atomics %(.*add", '["any atomics"]', simulated, kernel(atomic, launched))
  local written = 'asm volatile("add.f32 %0, %0, 0f00000000;" : "+f"(e));' .. plain
  refused("any inline PTX", "its kernels have inline PTX", '["any inline PTX"]', simulated, kernel(written, launched))
  local facts = judged('["any atomics", "any inline PTX", "any tensor core"]', simulated, kernel(plain, launched))
  assert(facts.ok, facts.reason)
end)

-- ---- Python candidates

local solution = [[
import torch

class ModelNew(torch.nn.Module):
    def softmax(self, c):
        e = torch.exp(c - c.amax(-1, keepdim=True))
        return e / e.sum(-1, keepdim=True)
    def forward(self, a, b):
        return self.softmax(%s)
]]
local mine = "(a[:, :, None] * b).sum(1)"

check.test("operators that executed, in whatever form they were asked for; own functions of that name pass", function()
  for text, entry in pairs { ["torch.einsum('ik,kj->ij', a, b)"] = "any product", ["torch.nn.functional.linear(a, b.T)"] = "any library",
                             ["getattr(a, 'm' + 'm')(b)"] = "matmul", ["torch.addmm(torch.zeros((), dtype=a.dtype), a, b)"] = "mm" } do
    refused(entry, "PyTorch executed aten::", ('["%s"]'):format(entry), processor, { python = solution:format(text) })
  end
  refused("softmax", "PyTorch executed aten::.*softmax", '["softmax"]', processor,
    { python = solution:format(mine):gsub("return self.softmax", "return vars(torch)['soft' + 'max']"):gsub("%)\n$", ", -1)\n") })
  local facts = judged('["softmax", "any product", "any library", "conv2d"]', processor, { python = solution:format(mine) }, "strict")
  assert(facts.ok, facts.reason)
  facts = judged('["conv2d", "any scan"]', processor, { python = solution:format "a @ b" })
  assert(facts.ok, facts.reason)
end)

check.test("what a Python candidate's kernels are made of cannot be seen, and that is said", function()
  local facts = judged('["any atomics"]', processor, { python = solution:format(mine) })
  assert(facts.ok, facts.reason)
  local flag = facts.rules.flags[1]
  check.equal(flag.rule, "task_forbids")
  check.equal(flag.unknown, true)
  check.matches(flag.reason, "whether a Python candidate's kernels have atomics cannot be seen")
end)

-- ---- the list itself

check.test("a list that says nothing, or what is no operator, is refused with what to write", function()
  local function wrong(list, pattern)
    local task, message, name = open(list, simulated)
    check.equal(task, nil)
    check.equal(name, "task")
    check.matches(message, pattern)
  end
  wrong('"matmul"', "t%.py: 'forbidden' must be a list of texts")
  wrong("[1]", "must be a list of texts")
  wrong('["torch.sofmax"]', "'torch.sofmax' in 'forbidden' is no operator that PyTorch executes %(did you mean 'softmax'%?%)")
  wrong('["any produkt"]', "after 'any' comes one of product, .*%(did you mean 'product'%?%)")
  wrong('["torch.empty"]', "the judge itself")
  wrong(('["%s"]'):format(("x"):rep(65)), "at most 64 entries of 64 letters")
end)

check.test("the kinds that a list may name are those of the rules", function()
  local text = assert(file.read "python/cawb_host/judge/task/forbidden.py"):match "KINDS = %((.-)%)"
  local work = dofile "lua/cawb/judge/rules/python/python_work.lua"
  local own_rule = dofile "lua/cawb/judge/rules/task_forbids.lua"
  local known = { library = true }
  for _, class in ipairs(work.options.classes) do known[class[1]] = true end
  for kind in pairs(own_rule.options.groups) do known[kind] = true end
  local listed = {}
  for kind in text:gmatch '"([^"]+)"' do listed[kind] = true end
  for kind in pairs(known) do assert(listed[kind], kind) end
  for kind in pairs(listed) do assert(known[kind], kind) end
end)

host[1]:close()
return check.done()
