-- Admission: tasks that can tell right from wrong, and tasks that cannot.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local admission = require "cawb.judge.verify.admission"

local device <close> = assert(cawb.device "sim:h100")
local dir = check.folder()

local function examine(forward, inputs)
  local path = check.write(("%s/t%s.py"):format(dir, tostring({}):match "0x(%x+)"), ([[
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return %s
def get_inputs():
    return [%s]
def get_init_inputs():
    return []
]]):format(forward, inputs))
  local task <close> = assert(cawb.task(path, { device = device }))
  return assert(admission.examine(task, cawb.defaults))
end

check.test("a product of positive matrices: the paper's tolerance sees neither TF32 nor a forgotten term", function()
  local task <close> = assert(cawb.task("tests/judge/cheats/tasks/products/matmul.py", { device = device }))
  local r = assert(admission.examine(task, cawb.defaults))
  check.equal(r.admitted, true)
  check.equal(r.protocols.strict.score, 1)
  local paper = r.protocols.paper.alive
  assert(paper.tf32 and paper.bf16 and paper.drop_last, core.json.encode(r))
  check.equal(paper.zeros, false)
  check.equal(r.protocols.kernelbench.alive.tf32, true)
  check.equal(r.protocols.kernelbench.alive.bf16, false)
  check.equal(r.protocols.strict.alive.eager, true)
end)

check.test("a long softmax: zeros pass at 1e-2, not under the strict tolerance", function()
  local r = examine("torch.softmax(x, dim=-1)", "torch.rand(2, 16384)")
  check.equal(r.protocols.paper.alive.zeros, true)
  check.equal(r.protocols.strict.alive.zeros, false)
  check.equal(r.admitted, true)
end)

check.test("an output that hardly depends on the input is refused", function()
  local r = examine("1000 + 1e-3 * torch.sigmoid(x)", "torch.randn(8, 64)")
  check.equal(r.admitted, false)
  check.matches(r.reason, "hardly depends on the input")
end)

check.test("a reference that is no number, or out of range, is refused", function()
  check.matches(examine("torch.log(x)", "torch.randn(8, 64)").reason, "reference has %d+ values that are no numbers")
  check.matches(examine("x * 1e-36", "torch.randn(8, 64)").reason, "out of range")
end)

check.test("the identity is named, not refused", function()
  local r = examine("x + 0.0", "torch.randn(8, 64)")
  check.equal(r.identity, true)
  check.equal(r.admitted, true)
end)

check.test("the command: tables, JSON, refusals of what cannot be opened", function()
  local function run(words) return check.shell(("'%s' admit %s --device sim:h100 2>&1"):format(core.program, words)) end
  local constant = check.write(dir .. "/constant.py", [[
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.zeros(4)
def get_inputs():
    return [torch.randn(4)]
def get_init_inputs():
    return []
]])
  local out, status = run("tests/judge/cheats/tasks/elementwise/relu.py")
  check.equal(status, 0, out)
  check.matches(out, "relu: admitted")
  check.matches(out, "paper%s+x%s+x%s+%-%s+x%s+x%s+4 of 5")
  out, status = run("tests/judge/cheats/tasks/elementwise/relu.py " .. constant .. " --json")
  check.equal(status, 1, out)
  local r = assert(core.json.decode(out))
  check.equal(r.tasks[1].admitted, true)
  check.equal(r.tasks[2].admitted, false)
  check.matches(r.tasks[2].reason, "output says nothing of the inputs")
  out, status = run ""
  check.equal(status, 2, out)
end)

return check.done()
