-- kernels: every rung of a family on shapes that are awkward for it. Both the simulated and
-- the real device run this; `members` is how many of a rung's members to try.
--   dofile "tests/support/kernels.lua" (device, cases, { members = 4 })

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local evaluate = require "cawb.judge.evaluate"
local execute = require "cawb.judge.worker.execute"
local families = require "cawb.run.families"
local python = require "cawb.base.python"

local host, hello = assert(python.start(cawb.defaults.deadlines.start))   -- one for all tasks

-- Under sanitizers, which are slow, one kind of inputs goes through the same code.
local brief = os.getenv "CAWB_TEST_BRIEF" and {} or nil

local function right(task, candidate, what)
  local result = assert(cawb.verify(task, candidate, { trials = 1, battery = brief, repeats = brief and 0 }))
  return result.ok, ("%s: %s"):format(what, tostring(result.reason))
end

local function some_members(task, rung, name, most)
  local declared = assert(execute.tunables(task, rung, cawb.defaults))
  if declared.ok == false then return false, ("%s: %s"):format(name, declared.reason) end
  for _, values in ipairs(evaluate.members(declared, most)) do
    local ok, why = right(task, rung:with(values), name .. " " .. core.json.encode(values))
    if not ok then return false, why end
  end
  return true
end

-- Not every number is one. What is largest among infinities and a NaN?
local strange = [[
import torch
dim = 1
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.max(x, dim=dim)[0]
def get_inputs():
    x = torch.randn(2, 70, 70)
    x[0, 3, :9] = x[0, :9, 3] = torch.nan
    x[1, 5, :] = x[1, :, 5] = -torch.inf
    return [x]
def get_init_inputs():
    return []
]]

-- Every operator of the elementwise family, with a value that is used again, and another shape for
-- the same order.
local zoo = [[
import torch
import torch.nn.functional as F
rows, cols = 3, 5
class Model(torch.nn.Module):
    def forward(self, x):
        y = x.view(-1).view(rows, cols)
        a = F.gelu(y) + F.gelu(x, approximate="tanh") + F.relu(x) * 2 - torch.sigmoid(x) / 3
        b = F.silu(x) + F.mish(x) + F.hardswish(3 * x) + F.hardsigmoid(2 * x) + torch.tanh(x) * torch.exp(-x.abs()) + torch.log(x * x + 1)
        c = torch.sqrt(x.abs() + 1) + torch.rsqrt(x * x + 1) + torch.reciprocal(x.abs() + 2) + torch.erf(x)
        d = F.leaky_relu(x, 0.1) + F.elu(x, 0.7) + F.selu(x) + F.hardtanh(x, -0.5, 0.25) + x.clamp(min=-0.3) + x.clamp(max=1.5)
        e = F.softplus(x) + F.softplus(x * 30, beta=2, threshold=10) + 1 / (1 + x ** 2) + x ** 3 + x.abs() ** 1.5 + x.abs() ** 0.5
        return torch.add(a, b, alpha=0.5) + torch.sub(c, d, alpha=2) * e / (x ** 2 + 1) - (x.abs() + 1) ** -1
def get_inputs():
    return [torch.randn(rows, cols)]
def get_init_inputs():
    return []
]]

-- A layer of each kind with several operators behind it.
local behind = [[
import torch
import torch.nn.functional as F
kind, batch, size = "linear", 3, 10
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(size, 7) if kind == "linear" else torch.nn.Conv2d(3, 5, 3)
    def forward(self, x):
        y = self.layer(x) * 2
        return F.hardswish(y - 0.25) + torch.tanh(y)
def get_inputs():
    return [torch.randn(batch, size) if kind == "linear" else torch.randn(batch, 3, size, size)]
def get_init_inputs():
    return []
]]

local written = { strange = strange, zoo = zoo, behind = behind }

-- A case: { file of examples/, or one of these, constants, family, except = { rung = pattern of
-- its refusal } }
local function climb(device, case, how)
  local text = written[case[1]]
  local path = text and check.write(check.folder() .. "/" .. case[1] .. ".py", text) or "examples/" .. case[1]
  local task <close> = assert(cawb.task(path, { device = device, task = case[2], host = { host, hello } }))
  local family = assert(families.match(task))
  check.equal(family.name, case[3], "family")
  for n, name in ipairs(family.versions) do
    local rung = family:rung(n, task)
    local refusal = case.except and case.except[name]
    if refusal then
      local ok, why = right(task, rung, name)
      assert(not ok, name .. " was accepted")
      check.matches(why, refusal)
    else
      assert(some_members(task, rung, name, how.members or 1))
    end
  end
end

return function(device, cases, how)
  for _, case in ipairs(cases) do
    check.test(("%s is right on %s %s"):format(case[3], case[1], core.json.encode(case[2])),
      function() climb(device, case, how or {}) end)
  end
  return check
end
