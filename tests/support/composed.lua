-- composed: tasks as text, lowered by compose and judged as any candidate is.
--   local composed = dofile "tests/support/composed.lua"
--   composed.right("return x + 1", "[torch.randn(3, 5)]")

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local compose = require "cawb.compose"
local options = require "cawb.base.options"
local python = require "cawb.base.python"

-- Elsewhere, or in many processes at once: CAWB_TEST_DEVICE=cuda:0, CAWB_TEST_THREADS=1.
-- Under sanitizers everything takes longer.
local function settings()
  local all = options.copy(cawb.defaults)
  local times = os.getenv "CAWB_TEST_BRIEF" and 6 or 1
  for _, stage in ipairs { "run", "compile", "measure" } do all.deadlines[stage] = times * all.deadlines[stage] end
  return all
end

local simulate = options.copy(cawb.defaults.simulate)
simulate.threads = math.tointeger(tonumber(os.getenv "CAWB_TEST_THREADS" or 0))
local device = assert(cawb.device(os.getenv "CAWB_TEST_DEVICE" or "sim:h100", { simulate = simulate, deadlines = settings().deadlines }))
local host, hello = assert(python.start(cawb.defaults.deadlines.start))   -- one for all tasks

local M = { check = check, device = device, host = { host, hello } }

local frame = [[
import torch
import torch.nn as nn
import torch.nn.functional as F; torch.set_num_threads(1)       # more threads add up at one place in any order

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        %s

    def forward(self, %s):
        %s

def get_inputs():
    return %s

def get_init_inputs():
    return []
]]

local function indented(text) return (text:gsub("\n", "\n        ")) end

--- A task whose forward is this text, of inputs x, y, z; `setup` goes into __init__. `seed`: what its secrets are
--- drawn from, where they are to be the same again.
function M.task(forward, inputs, setup, seed)
  local names, depth, count = { "x", "y", "z", "w", "v" }, 0, 1
  for c in inputs:sub(2, -2):gmatch "[%[%](),]" do
    if c:find "[%[(]" then depth = depth + 1 elseif c:find "[%])]" then depth = depth - 1
    elseif depth == 0 then count = count + 1 end
  end
  local text = frame:format(indented(setup or "pass"), table.concat(names, ", ", 1, count), indented(forward), inputs)
  local path = check.write(check.folder() .. "/task.py", text)
  return cawb.task(path, { device = M.device, host = { host, hello }, seed = seed, options = settings() })
end

--- What compose makes of it: { source, plan, kernels, graph }, or nil and why not.
function M.make(forward, inputs, setup, options)
  local task <close> = assert(M.task(forward, inputs, setup))
  return compose.make(task, options)
end

--- Raises where the candidate is not right on the task. Returns what was made, with `steps` as they were taken. `kinds` of inputs to try besides
--- the task's own, where not the usual ones; `seed` as for M.task.
function M.right(forward, inputs, setup, options, kinds, seed)
  local task <close> = assert(M.task(forward, inputs, setup, seed))
  local made, why = compose.make(task, options)
  if not made then error(why, 2) end
  local r = assert(cawb.verify(task, cawb.candidate { source = made.source, plan = made.plan, options = made.options }, { trials = 1, repeats = 0, battery = kinds,
    options = settings() }))
  if not r.ok then
    local findings = r.findings and r.findings[1] and r.findings[1].text or ""
    error(("%s: %s %s\n%s\n%s"):format(r.stage, r.reason, findings, made.source, made.plan), 2)
  end
  made.steps = r.steps
  return made
end

--- How its kernels compute, in words.
function M.how(made) return table.concat(compose.table(made), "\n") end

--- How many kernels its launches have.
function M.count(made)
  local seen, count = {}, 0
  for _, kernel in ipairs(made.kernels) do
    for _, launch in ipairs(kernel.made and kernel.made.launches or {}) do
      if launch.kernel and not seen[launch.kernel] then seen[launch.kernel], count = true, count + 1 end
    end
  end
  return count
end

--- What the profile counts in each of its launches, on the task's own inputs.
function M.metrics(forward, inputs, setup, options)
  local task <close> = assert(M.task(forward, inputs, setup))
  local made, list = assert(compose.make(task, options)), {}
  local profile = assert(cawb.profile(task, cawb.candidate { source = made.source, plan = made.plan }))
  assert(profile.ok, profile.reason)
  for k, launch in ipairs(profile.kernels) do list[k] = launch.metrics end
  return list, made
end

--- Errors { nrms, worst, eager = { the same } } of what compose makes for tensor cores of every size, where it is right at all.
function M.errors(forward, inputs, more)
  local settings = options.copy(cawb.defaults)
  settings.deadlines.run = 60
  local task <close> = assert(M.task(forward, inputs))
  local o = { arch = "sm_90a", least = 0, narrowest = 8, full = 1 }
  for key, value in pairs(more or {}) do o[key] = value end
  local made = assert(compose.make(task, o))
  check.matches(M.how(made), o.words or o.arch == "sm_90a" and "wgmma" or "mma")
  local r = assert(cawb.verify(task, cawb.candidate { source = made.source, plan = made.plan },
    { trials = 1, repeats = 0, battery = {}, options = settings }))
  if not r.ok then error(r.reason, 2) end
  return r.error
end

local chips = require "cawb.gpu.chip"

--- An H100 with other figures.
function M.chip(figures) return chips.with(chips.named "h100", figures) end

local FACTOR = 3

--- Raises where these errors are more than `times` (three) PyTorch's own in strict float32, with no floor under it.
function M.close(forward, inputs, more, times)
  local e = M.errors(forward, inputs, more)
  for _, kind in ipairs { "nrms", "worst" } do
    if not (e[kind] <= (times or FACTOR) * e.eager[kind]) then
      error(("%s of %s: %s is %.3g, eager's %.3g"):format(forward, inputs, kind, e[kind], e.eager[kind]), 2)
    end
  end
end

return M
