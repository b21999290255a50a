-- kernels: every rung of a family on shapes that are awkward for it. Both the simulated and
-- the real device run this; `members` is how many of a rung's members to try.
--   dofile "tests/lua/kernels.lua" (device, cases, { members = 4 })

local check = dofile "tests/lua/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local evaluate = require "cawb.evaluate"
local execute = require "cawb.execute"
local families = require "cawb.families"

local function right(task, candidate, what)
  local result = assert(cawb.verify(task, candidate, { trials = 1 }))
  return result.ok, ("%s: %s"):format(what, tostring(result.reason))
end

local function some_members(task, rung, name, most)
  local declared = assert(execute.tunables(task, rung))
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

-- A case: { file of examples/ or "strange", constants, family, except = { rung = pattern of
-- its refusal } }
local function climb(device, case, how)
  local path = case[1] == "strange" and check.write(check.folder() .. "/strange.py", strange)
    or "examples/" .. case[1]
  local task <close> = assert(cawb.task(path, { device = device, task = case[2] }))
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
