-- cawb.judge on a simulated device: one candidate after the other from a script, and what each kind of failure looks like.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local options = require "cawb.base.options"

local all = options.copy(cawb.defaults)
all.verify.trials, all.verify.battery, all.verify.repeats, all.measure.against = 1, {}, 0, { "eager" }

local device <close> = assert(cawb.device "sim:h100")
local task <close> = assert(cawb.task(check.write(check.folder() .. "/steps.py", [[
import torch

def op(x):
    return torch.relu(x) * 2 + 1

examples = [torch.rand(64, 256) - 0.5]
]]), { device = device, options = all }))

local source = [[
#ifndef BLOCK
#define BLOCK 128
#endif
extern "C" __global__ void steps(float *y, const float *x, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f) * 2 + 1;
}
]]
local launch = 'launch("steps", { grid = (inputs[1].numel + 127) // 128, block = 128 }, outputs[1], inputs[1], inputs[1].numel)\n'

local function judge(changes, how)
  local opts = { options = all }
  for key, value in pairs(how or {}) do opts[key] = value end
  return cawb.judge(task, cawb.candidate { source = changes.source or source, plan = changes.plan or launch }, opts)
end

check.test("right and faster: one kernel for PyTorch's three; a claim is confirmed, unless nobody wants that", function()
  local stages = {}
  local v = assert(judge({}, { say = function(stage) stages[stage] = true end }))
  check.equal(v.verdict, "faster", v.reason)
  check.equal(v.ok, true)
  assert(v.equal_error.against == "eager" and v.equal_error.median > 1 and v.time_s.median > 0)
  assert(v.first.time_s.median > 0 and v.seconds.confirm > 0)
  assert(stages.compile and stages.verify and stages.measure and stages.confirm)
  v = assert(judge({}, { confirm = false }))
  check.equal(v.verdict, "faster")
  check.equal(v.first, nil)
end)

check.test("confirmation is the option's to leave out, and the caller's to insist on", function()
  all.confirm.enabled = false
  local left, insisted = assert(judge {}), assert(judge({}, { confirm = true }))
  all.confirm.enabled = true
  check.equal(left.first, nil)
  assert(insisted.first)
end)

check.test("right, and not faster: the same launched eight times", function()
  local v = assert(judge { plan = launch:rep(8) })
  check.equal(v.verdict, "right", v.reason)
  check.equal(v.ok, true)
  assert(v.equal_error.median < 1)
end)

check.test("of a family the fastest right member is told, with its tunables", function()
  local plan = "local b = tunables{ BLOCK = { 32, 128 } }.BLOCK\n" .. launch:gsub("127", "b - 1"):gsub("128", "b")
  local v = assert(judge { plan = plan })
  assert(v.ok, v.reason)
  check.equal(#v.variants, 2)
  check.equal(v.member.tunables.BLOCK, v.tunables.BLOCK)
  local again = assert(cawb.judge(task, v.member, { options = all, confirm = false }))
  check.equal(#again.variants, 0)
end)

check.test("wrong, and no program: a verdict, and not an error", function()
  local v = assert(judge { source = check.edit(source, "* 2 + 1", "* 2") })
  check.equal(v.ok, false)
  check.equal(v.verdict, "wrong")
  check.equal(v.stage, "verify")
  check.matches(v.reason, "outputs%[1%] is wrong at")
  v = assert(judge { source = check.edit(source, "x[i]", "z[i]") })
  check.equal(v.verdict, "wrong")
  check.equal(v.stage, "compile")
  check.matches(v.log, 'identifier "z" is undefined')
end)

check.test("misuse raises", function()
  check.raises("judge: pass a candidate", cawb.judge, task, "kernels/softmax/v3_shuffle")
  check.raises("judge: pass a task", cawb.judge, device.info, cawb.candidate { source = source, plan = launch })
  check.raises("judge: unknown option 'confrim' %(did you mean 'confirm'", judge, {}, { confrim = false })
end)

check.test("a task host that is lost is that candidate's failure, and the next one is judged", function()
  task.host:kill()
  local v = assert(judge {})
  check.equal(v.verdict, "wrong")
  check.equal(v.stage, "host")
  check.matches(v.reason, "the task host was lost while it judged this candidate")
  check.equal(assert(judge {}).verdict, "faster")
end)

check.test("the world fails: nil, a message, a name", function()
  task:close()
  check.fails("died", "the task is closed", judge {})
end)

return check.done()
