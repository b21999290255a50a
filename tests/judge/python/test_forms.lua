-- Tasks as other people write them, with a Python candidate of the same form: what forward takes
-- and returns beside tensors goes through the jail as it is. Beside each right candidate a wrong one.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local evaluate = require "cawb.judge.evaluate"
local options = require "cawb.base.options"

local device <close> = assert(cawb.device "cpu")

local function judged(text, candidate, change)
  local all = options.copy(cawb.defaults)
  all.rules, all.measure.budget, all.verify.battery = "off", 0.05, { "mixed" }
  if change then change(all) end
  local path = check.write(check.folder() .. "/foo.py", text)
  local task <close> = assert(cawb.task(path, { device = device, options = all }))
  return assert(evaluate.candidate(task, cawb.candidate { python = candidate }, all, { trials = 1, samples = 2, against = {} }))
end

-- The task's own module is right; changed in one place it is wrong, for the reason that `why` fits.
local function told(text, from, to, why)
  local own = text .. "\nModelNew = Model\n"
  local facts = judged(text, own)
  assert(facts.ok, facts.reason)
  facts = judged(text, check.edit(own, from, to))
  assert(not facts.ok, "a wrong one passed")
  check.matches(facts.reason, why)
end

check.test("keywords, records, complex weights, lazy modules, numbers and None", function()
  told([[
import torch, collections, dataclasses
Pair = collections.namedtuple("Pair", "a b")
@dataclasses.dataclass
class Out:
    y: torch.Tensor
    rest: dict
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.LazyLinear(8)
        self.rot = torch.nn.Parameter(torch.randn(8, dtype=torch.complex64))
    def forward(self, x, pair, more):
        h = self.lin(x.cuda()) + pair.a + more["k"] * pair.b
        z = torch.view_as_complex(torch.stack([h, h * 2], -1)) * self.rot * more["z"]
        return Out(y=h, rest={"z": z, "n": None, "k": 3, "l": [h > 0, (2.5,)]})
def get_inputs():
    torch.manual_seed(0)
    return {"x": torch.randn(16, 12, device="cuda"), "pair": Pair(torch.randn(16, 8), torch.randn(8)),
            "more": {"k": 2, "z": torch.randn(16, 8, dtype=torch.complex64)}}
]], "torch.stack([h, h * 2], -1)", "torch.stack([h, h * 2.01], -1)", "^outputs%[2%] is wrong")
end)

check.test("gradients, which an earlier call does not add to", function()
  told([[
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(12, 8)
    def forward(self, x, g):
        y = self.lin(x).tanh()
        y.backward(g)
        return x.grad, self.lin.weight.grad
def get_inputs():
    return [torch.randn(16, 12, requires_grad=True), torch.randn(16, 8)]
]], "y.backward(g)", "y.backward(g * 1.01)", "^outputs%[1%] is wrong")
end)

check.test("a result that is written into an input", function()
  told([[
import torch
class Model(torch.nn.Module):
    def forward(self, x, out):
        torch.mul(x, 2, out=out)
def get_inputs():
    return [torch.randn(16, 12), torch.empty(16, 12)]
]], "torch.mul(x, 2, out=out)", "return x * 2, x", "forward returns 2 tensors, the reference 1")
end)

check.test("a byte order mark in front of a candidate, and sizes that fit a processor", function()
  local facts = judged([[
import torch
rows = 1 << 20
class Model(torch.nn.Module):
    def forward(self, x): return x * 2
def get_inputs(): return [torch.randn(rows, 64)]
]], "\xEF\xBB\xBFimport torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x): return x + x\n",
    function(all) all.scale.mode, all.scale.memory = "fit", 1 << 20 end)
  assert(facts.ok, facts.reason)
end)

-- A reference that raises: on a probability beyond 1, on an index beyond the table, by its own word.
check.test("inputs on which the reference itself raises are left out, and reject nobody", function()
  local text = [[
import torch
import torch.nn.functional as F
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(100, 8))
        self.scale, self.shift = float(torch.rand(())) + 1, torch.randn(8)
    def forward(self, p, t, i):
        assert (p >= 0).all(), "probabilities"
        return F.binary_cross_entropy(p, t), F.embedding(i.long(), self.table) * self.scale + self.shift
def get_inputs():
    return [torch.rand(16, 8), torch.rand(16, 8), torch.randint(0, 100, (16,)).float()]
]]
  local facts = judged(text, text .. "\nModelNew = Model\n", function(all) all.verify.battery = { "mixed", "nan", "offset" } end)
  assert(facts.ok, facts.reason)
  check.matches(facts.battery.nan.left_out, "PyTorch refuses such inputs")
end)

check.test("what replaces a clock, and what starts threads, is flagged and passes; what reads a clock is not", function()
  local file = require "cawb.base.file"
  local function told(name, census, text)
    local rule = assert(load(file.read("lua/cawb/judge/rules/python/" .. name .. ".lua")))()
    return rule.check({ python = { census = census, text = text or "" } }, rule.options)
  end
  check.matches(told("python_clocks", { assigned = { "time.perf_counter" } }).reason, "replaces time.perf_counter")
  check.matches(told("python_clocks", { assigned = { "torch.cuda.Event.elapsed_time" } }).reason, "elapsed_time")
  check.matches(told("python_clocks", {}, 'setattr(torch.cuda.Event, "elapsed_time", f)').reason, "torch.cuda.Event by setattr")
  check.equal(told("python_clocks", { assigned = { "torch.backends.cudnn.benchmark" }, uses = { "time.perf_counter" } }), nil)
  check.matches(told("python_threads", { calls = { "threading.Thread" } }).reason, "threads or processes: threading.Thread")
  check.matches(told("python_threads", { early = { "subprocess.run" } }).reason, "subprocess.run")
  check.matches(told("python_threads", {}, "std::thread([=]{ launch(); }).detach();").reason, "std::thread")
  check.equal(told("python_threads", { calls = { "threading.Lock" } }, "x = y"), nil)
end)

check.test("a plan finds inputs by their names", function()
  local sim <close> = assert(cawb.device "sim:h100")
  local path = check.write(check.folder() .. "/foo.py", [[
import torch
class Model(torch.nn.Module):
    def forward(self, x, more): return x * more["w"]
def get_inputs(): return {"x": torch.randn(64), "more": {"w": torch.randn(64)}}
]])
  local task <close> = assert(cawb.task(path, { device = sim }))
  local facts = assert(cawb.verify(task, cawb.candidate {
    source = "extern \"C\" __global__ void f(float *y, const float *x, const float *w)"
      .. "{ y[threadIdx.x] = x[threadIdx.x] * w[threadIdx.x]; }",
    plan = 'launch("f", { grid = 1, block = 64 }, outputs[1], inputs.x, inputs[2].w)' }, { trials = 1 }))
  assert(facts.ok, facts.reason)
end)

return check.done()
