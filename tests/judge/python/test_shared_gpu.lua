-- A Python candidate on a GPU that somebody else uses, too: kernels that run while it stands still are its own only where
-- they end with it. The answers of a GPU are made up here: what the task host says is replaced. So is a machine without a
-- process left, which costs a turn.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local evaluate = require "cawb.judge.evaluate"
local options = require "cawb.base.options"

local device <close> = assert(cawb.device "cpu")
local task <close> = assert(cawb.task("examples/softmax.py", { device = device, task = { rows = 4, cols = 8 } }))
local honest = cawb.candidate { python = [[
import torch

class ModelNew(torch.nn.Module):
    def forward(self, x):
        e = torch.exp(x - x.amax(1, keepdim=True))
        return e / e.sum(1, keepdim=True)
]] }

local all = options.copy(cawb.defaults)
all.measure.budget, all.measure.processes = 0.05, 1

-- The first `busy` calls end with kernels that ran on; `longest` is how long the judge's own take afterwards.
local function judged(busy, longest)
  local ask, asked = task.ask, { rounds = 0, shared = 0, opened = 0 }
  task.ask = function(self, request, ...)
    if request.op == "python_shared" then
      asked.shared = asked.shared + 1
      return { longest = longest }
    end
    if request.op == "python_open" then asked.opened = asked.opened + 1 end
    asked.rounds = asked.rounds + (request.op == "python_round" and 1 or 0)
    if request.op == "python_round" and asked.rounds <= busy then
      return { times = {}, compared = {}, failed = { who = "candidate", how = "busy", message = "its kernels ran on" } }
    end
    return ask(self, request, ...)
  end
  local facts, message = evaluate.candidate(task, honest, all, { trials = 1, battery = {}, repeats = 0, samples = 2, against = {} })
  task.ask = nil
  return assert(facts, message), asked
end

check.test("kernels that end with the candidate were its own", function()
  local facts, asked = judged(1, 0)
  check.equal(facts.ok, false)
  check.matches(facts.reason, "its kernels ran on")
  check.equal(facts.name, "protocol")
  check.equal(asked.opened, 1)
end)

check.test("others' kernels: it is judged again, and passes", function()
  local facts, asked = judged(2, 0.001)
  assert(facts.ok, facts.reason)
  check.equal(asked.shared, 2)
  check.equal(asked.opened, 3)
end)

check.test("where they never end it says that it was not judged, and why", function()
  local facts, asked = judged(1000, 0.0007)
  check.equal(facts.ok, false)
  check.equal(facts.name, "shared")
  check.matches(facts.reason, "something else uses this GPU.*700 us")
  check.equal(asked.opened, 3)
end)

check.test("a machine that has no process left fails the candidate, not the run", function()
  local host = require "cawb.judge.worker.jail_host"
  local spawn, message = host.spawn, "the machine has no processes left for its process (Resource temporarily unavailable)"
  host.spawn = function() return nil, message, "scarce" end
  local facts, why = evaluate.candidate(task, honest, all, { trials = 1, battery = {}, repeats = 0, samples = 2, against = { "eager" } })
  host.spawn = spawn
  assert(facts, why)
  check.equal(facts.ok, false)
  check.equal(facts.name, "scarce")
  check.matches(facts.reason, "no processes left")
  check.equal(judged(0, 0).ok, true)
end)

return check.done()
