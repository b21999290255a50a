-- kernel: a candidate of device source and a plan (tier 1), as evaluate.lua takes it through its
-- stages. It runs in the device's worker.

local execute = require "cawb.judge.worker.execute"
local measure = require "cawb.judge.time.measure"
local profile = require "cawb.judge.profile.profile"
local verify = require "cawb.judge.verify.verify"

local M = {}

local Kernel = { stages = { "source", "compiled", "plan" } }
Kernel.__index = Kernel

--- Compile and load it.
function Kernel:open(facts)
  local got, message, name = execute.prepare(self.task, self.candidate, self.options)
  if not got or not got.ok then return got, message, name end
  local built = got.built
  facts.cached, facts.kernels, facts.steps, facts.prepared = built.cached, built.kernels, got.steps, got.prepared
  facts.log, facts.built = built.log, built
  return got
end

function Kernel:verify(how) return verify.verify(self.task, self.candidate, self.options, how) end

function Kernel:measure(how) return measure.measure(self.task, self.candidate, self.options, how) end

-- The same of a text that is for the task's own sizes: it is another than was verified, so that what it was built to is told.
local function measure_text(own, candidate, options, how)
  local loaded, message, name = execute.prepare(own, candidate, options)
  if not loaded or not loaded.ok then return loaded, message, name end
  local got
  got, message, name = measure.measure(own, candidate, options, how)
  if got then got.there = { built = loaded.built, steps = loaded.steps, prepared = loaded.prepared, kernels = loaded.built.kernels } end
  return got, message, name
end

--- At the task's own sizes, where smaller ones are verified: times, the counters' report, and the tunables there.
function Kernel:measure_own(how)
  local own = self.task.own
  local moved, message, name = execute.moved(self.task, own, self.candidate, self.options)
  if not moved or not moved.ok then return moved, message, name end
  local got
  got, message, name = (self.candidate.own and measure_text or measure.measure)(own, moved.candidate, self.options, how)
  if got then got.tunables = moved.candidate.tunables end
  return got, message, name
end

--- Bytes to and from memory by the device's counters, where there are any.
function Kernel:count()
  local p = profile.profile(self.task, self.candidate, self.options, { set = "quick" })
  local bytes = p and p.ok and p.metrics.dram_bytes
  return bytes and { dram_bytes = bytes, source = p.source } or nil
end

-- The worker stays, for the next one.
function Kernel:close() end

--- A kernel on a task, a subject of evaluate.one.
function M.new(task, candidate, options)
  return setmetatable({ task = task, candidate = candidate, options = options }, Kernel)
end

return M
