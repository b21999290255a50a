-- Sizes that fit: what --scale makes of a task, and counts and times of one that is too large.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local evaluate = require "cawb.judge.evaluate"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local scale = require "cawb.judge.task.scale"

local folder = check.folder()
local device <close> = assert(cawb.device "sim:h100")
local host <const> = { python.start(120.0) }
assert(host[1], host[2])

local function task_file(name, constants, forward, inputs)
  return check.write(("%s/%s.py"):format(folder, name), ([[
import torch
import torch.nn as nn
%s
class Model(nn.Module):
    def forward(self, x):
        return %s
def get_inputs():
    return [%s]
def get_init_inputs():
    return []
]]):format(constants, forward, inputs))
end

local large = task_file("large", "batch_size = 4096\ndim = 393216\n", "torch.relu(x)", "torch.rand(batch_size, dim)")

local function fit(path, set)
  local all = options.copy(cawb.defaults)
  for _, assignment in ipairs(set or {}) do assert(options.set(all, assignment)) end
  local s, why = scale.fit(host[1], path, device, all)
  return s, all, why
end

check.test("the batch goes first, and the tensors fit", function()
  local s, all = fit(large)
  check.equal(table.concat(s.changes, ", "), "batch_size 4096 -> 16")
  check.equal(s.fits, true)
  check.equal(all.task.batch_size, 16)
  assert(s.after.bytes <= all.scale.memory and s.before.bytes > 12e9)
  check.matches(s.text, "scaled to fit sim:h100: batch_size 4096 %-> 16 %(tensors of 50.3 MB, were 12.9 GB%)")
end)

check.test("what is overridden stays, what fits is left alone", function()
  local s, all = fit(large, { "task.batch_size=512" })
  check.equal(all.task.batch_size, 512)
  check.equal(table.concat(s.changes, ", "), "dim 393216 -> 12288")
  s = fit(large, { "task.batch_size=2" })
  check.equal(#s.changes, 0)
  check.equal(s.text, nil)
end)

check.test("a product shrinks on all sides; odd sizes stay odd; what does not go together is left", function()
  local product = task_file("product", "batch = 1024\nn = 8192\nshape = (8192, 4095)\n",
    "x @ torch.ones(n, shape[1])", "torch.rand(batch, shape[0])")
  local s, all = fit(product)
  assert(s.fits, s.text)
  check.equal(all.task.n, nil, "n alone cannot change")
  check.equal(all.task.shape and all.task.shape[1], nil)
  assert(all.task.batch < 1024)
  local odd = task_file("odd", "rows = 32768\ncols = 65535\n", "torch.relu(x)", "torch.rand(rows, cols)")
  s, all = fit(odd)
  assert(s.fits and (all.task.cols or 65535) % 2 == 1, s.text)
end)

check.test("a batch that no small number divides shrinks too", function()
  local s, all = fit(task_file("prime", "batch_size = 10922\ndim = 4096\nrows = 5461\n", "torch.relu(x)", "torch.rand(batch_size, rows, dim)"))
  assert(s.fits, s.text)
  assert(all.task.batch_size < 5461 and (all.task.rows or 5461) == 5461, s.text)
end)

check.test("a constructor may cast the module", function()
  local path = check.write(folder .. "/casts.py", [[
import torch
import torch.nn as nn
batch_size = 4096
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(64, 64)
        self.to(torch.bfloat16)
    def forward(self, x):
        return self.line(x)
def get_inputs():
    return [torch.rand(batch_size, 4096, 64, dtype=torch.bfloat16)]
def get_init_inputs():
    return []
]])
  local s, _, why = fit(path)
  assert(s, why)
  assert(s.fits and #s.changes == 1, s.text)
end)

check.test("a constructor may ask what numbers a tensor has", function()
  local path = check.write(folder .. "/asks.py", [[
import torch
import torch.nn as nn
batch_size = 4096
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rates = [x.item() for x in torch.linspace(0, 0.5, 3)]
        self.weight = nn.Parameter(torch.rand(393216))
    def forward(self, x):
        return x * self.weight + self.rates[2]
def get_inputs():
    return [torch.rand(batch_size, 393216)]
def get_init_inputs():
    return []
]])
  local s, _, why = fit(path)
  assert(s, why)
  check.equal(table.concat(s.changes, ", "), "batch_size 4096 -> 16")
end)

check.test("something is left of every output", function()
  local crop = task_file("crop", "images = 64\nside = 512\n", "x[:, 16:-16, 16:-16] * 2", "torch.rand(images, side, side)")
  local s, all = fit(crop, { "scale.memory=20000" })
  assert((all.task.side or 512) > 32, s.text)
end)

check.test("what cannot be made to fit is said", function()
  local s = fit(task_file("stiff", "dim = 3\n", "torch.relu(x)", "torch.rand(1 << 26, dim)"))
  check.equal(s.fits, false)
  check.matches(s.text, "still larger than the options scale.memory")
  local none, _, why = fit(task_file("data", "n = 8\n", "x[x > 0.5]", "torch.rand(n)"))
  check.equal(none, nil)
  assert(why)
end)

check.test("it is the default on a simulated device, and a note of the task", function()
  local task <close> = assert(cawb.task(large, { device = device }))
  check.equal(task.inputs[1].shape[1], 16)
  check.equal(task.inputs[1].shape[2], 393216)
  check.matches(table.concat(task.notes, "\n"), "batch_size 4096 %-> 16")
  local real = { info = { modelled = false } }
  check.equal(scale.mode(real, cawb.defaults), "none")
end)

local relu = cawb.candidate { name = "relu", source = [[
extern "C" __global__ void relu(float *y, const float *x, long n) {
  long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0);
}]], plan = "local n = inputs[1].numel\nlaunch('relu', { grid = (n + 255) // 256, block = 256 }, outputs[1], inputs[1], n)" }

check.test("in full: some blocks stand for all, and nothing is called right", function()
  local all = options.copy(cawb.defaults)
  assert(options.set(all, "scale.mode=full"))
  local t, message = cawb.task(large, { device = device, options = all })
  check.equal(t, nil)
  check.matches(message, "set simulate.blocks")
  scale.prepare(all)
  check.equal(all.simulate.blocks, all.scale.blocks)
  local sampled <close> = assert(cawb.device("sim:h100", { simulate = all.simulate }))
  local task <close> = assert(cawb.task(large, { device = sampled, options = all }))
  check.equal(task.inputs[1].shape[1], 4096)
  local p = assert(cawb.profile(task, relu))
  assert(p.ok, p.reason)
  local bytes = 2 * 4096 * 393216 * 4
  assert(math.abs(p.metrics.dram_bytes / bytes - 1) < 0.01, p.metrics.dram_bytes)
  assert(math.abs(p.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] * 64 / bytes - 1) < 0.01)
  assert(p.seconds > bytes / 3.35e12 and p.seconds < 2 * bytes / 3.35e12, p.seconds)
  check.equal(p.metrics.blocks_executed, all.scale.blocks)
  local m = assert(cawb.measure(task, relu, { against = { "eager" } }))
  assert(m.ok and m.modelled, m.reason)
  local v = assert(cawb.verify(task, relu))
  check.equal(v.ok, false)
  check.matches(v.reason, "not checked: with %-%-scale full")
end)

-- A task and options under which it is verified small and timed at its own sizes.
local function open_both(name)
  local all = options.copy(cawb.defaults)
  assert(options.set(all, "scale.mode=both"))
  all.verify.trials, all.verify.battery, all.verify.repeats, all.verify.denormals = 1, { "mixed" }, 0, false
  local path = task_file(name, "rows = 4096\ncols = 2048\n", "torch.relu(x)", "torch.randn(rows, cols)")
  return assert(cawb.task(path, { device = device, options = all })), all
end

local source = [[extern "C" __global__ void relu(float *y, const float *x, int n, int most) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && n <= most) y[i] = fmaxf(x[i], 0.0f);
}]]

-- Right for so many elements. `width` follows from the shapes, as a plan says it.
local function relu_up_to(most)
  return cawb.candidate { source = source, plan = ([[
local t = tunables{ width = { inputs[1].shape[2] }, most = { %s } }
launch("relu", { grid = (inputs[1].numel + 255) // 256, block = 256 }, outputs[1], inputs[1], inputs[1].numel, t.most)]]):format(most) }
end

check.test("verified where it fits, timed at its own sizes, as of the whole grid", function()
  local task <close>, all = open_both "twofold"
  assert(task.inputs[1].bytes <= 128 << 10 and task.own.inputs[1].shape[1] == 4096)
  check.matches(task.notes[1], "verified so, and timed at its own sizes on 32 blocks of each launch")
  local facts = assert(evaluate.candidate(task, relu_up_to "1 << 30", all))
  assert(facts.ok, facts.reason)
  check.equal(facts.fitted.own_tunables.width, 2048)
  local bytes = 2 * 4096 * 2048 * 4
  assert(facts.time_s.median > bytes / 3.35e12 and facts.time_s.median < 3 * bytes / 3.35e12, facts.time_s.median)
  assert(facts.fitted.time_s.median < facts.time_s.median / 3)
  check.equal(task.baselines.eager.time_s.median / facts.time_s.median, facts.speedup.eager.median)
  assert(facts.floor.read == bytes / 2, "the floor is that of the task's own sizes")
end)

check.test("a kernel that does nothing at the task's own sizes is rejected there", function()
  local task <close>, all = open_both "idle"
  local facts = assert(evaluate.candidate(task, relu_up_to "1 << 20", all))
  check.equal(facts.ok, false)
  check.equal(facts.stage, "plausibility")
  assert(facts.rule == "below_floor" or facts.rule == "untouched_bytes", facts.rule)
end)

check.test("a plan that refuses the task's own sizes fails there, as data", function()
  local task <close>, all = open_both "narrow"
  local c = relu_up_to "1 << 30"
  c = cawb.candidate { source = c.source, plan = "if inputs[1].shape[1] > 1000 then error 'too many rows' end\n" .. c.plan }
  local facts = assert(evaluate.candidate(task, c, all))
  check.equal(facts.ok, false)
  check.matches(facts.reason, "too many rows")
end)

check.test("a candidate may have a text of its own for the task's own sizes, which the rules are asked about too", function()
  local task <close>, all = open_both "twotexts"
  local most = "assert(inputs[1].shape[1] %s 1000, 'for other sizes')\n"
  local here, there = relu_up_to "1 << 30", relu_up_to "1 << 30"
  local function text(plan, mark) return (most:format(mark)) .. 'launch("relu", { grid = (inputs[1].numel + 255) // 256, block = 256 }, outputs[1], inputs[1], inputs[1].numel, ' .. plan .. ")" end
  local function both(least) return cawb.candidate { source = here.source, plan = text("1 << 30", "<"),
    own = cawb.candidate { source = there.source, plan = text(least, ">"), name = "there" } } end
  local facts = assert(evaluate.candidate(task, both "1 << 30", all))
  assert(facts.ok, facts.reason)
  assert(facts.fitted.time_s.median < facts.time_s.median / 3)
  facts = assert(evaluate.candidate(task, both "1 << 20", all))
  check.equal(facts.stage, "plausibility")
  assert(both("1 << 30").hash ~= both("1 << 20").hash)
  check.raises("'own' is a candidate of kernels", cawb.candidate, { python = "x", own = here })
end)

check.test("a version of a family is told of both sizes, and tunables go along", function()
  local all = options.copy(cawb.defaults)
  assert(options.set(all, "scale.mode=both"))
  all.verify.trials, all.verify.battery, all.verify.repeats, all.verify.denormals = 1, { "mixed" }, 0, false
  local path = task_file("columns", "rows = 4096\ncols = 2048\n", "x.sum(0)", "torch.randn(rows, cols)")
  local task <close> = assert(cawb.task(path, { device = device, options = all }))
  local c = assert(assert(require("cawb.families").match(task)):rung(2, task))
  check.equal(c.own.defines.ROWS, 4096)
  local facts, member = assert(evaluate.candidate(task, c:with { width = 256, unroll = 16 }, all))
  assert(facts.ok, facts.reason)
  check.equal(facts.fitted.own_tunables.width, 256)
  assert(facts.time_s.median > 4096 * 2048 * 4 / 3.35e12, "all of the columns are read")
  assert(member.own, "what is recorded has both")
end)

check.test("the folder that a run keeps has the text for the task's own sizes too", function()
  local here = relu_up_to "1 << 30"
  assert(core.fs.mkdir(folder .. "/kept/own"))
  check.write(folder .. "/kept/kernel.cu", here.source)
  check.write(folder .. "/kept/plan.lua", here.plan)
  check.write(folder .. "/kept/candidate.json", '{"own":{"defines":{"A":"1"},"options":[]}}')
  local none, message = cawb.candidate(folder .. "/kept")
  check.equal(none, nil)
  check.matches(message, "own/kernel%.cu")
  check.write(folder .. "/kept/own/kernel.cu", here.source)
  check.write(folder .. "/kept/own/plan.lua", here.plan)
  check.equal(assert(cawb.candidate(folder .. "/kept")).own.defines.A, "1")
end)

check.test("the flag", function()
  local parsed = assert(require("cawb.door.command_line").parse { "a", "b", "--scale", "full" })
  check.equal(parsed.sets[1], "scale.mode=full")
  local all = options.copy(cawb.defaults)
  local ok, message = options.set(all, "scale.mode=ful")
  check.equal(ok, nil)
  check.matches(message, "one of auto, none, fit, full, both, not 'ful' %(did you mean 'full'")
end)

host[1]:close()
return check.done()
