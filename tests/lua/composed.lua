-- composed: tasks as text, lowered by compose and judged as any candidate is.
--   local composed = dofile "tests/lua/composed.lua"
--   composed.right("return x + 1", "[torch.randn(3, 5)]")

local check = dofile "tests/lua/check.lua"
local cawb = require "cawb"
local compose = require "cawb.compose"
local python = require "cawb.base.python"

local device = assert(cawb.device "sim:h100")
local host, hello = assert(python.start(cawb.defaults.deadlines.start))   -- one for all tasks

local M = { check = check, device = device }

local frame = [[
import torch
import torch.nn as nn
import torch.nn.functional as F

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

--- A task whose forward is this text, of inputs x, y, z; `setup` goes into __init__.
function M.task(forward, inputs, setup)
  local names, depth, count = { "x", "y", "z", "w" }, 0, 1
  for c in inputs:sub(2, -2):gmatch "[%[%](),]" do
    if c:find "[%[(]" then depth = depth + 1 elseif c:find "[%])]" then depth = depth - 1
    elseif depth == 0 then count = count + 1 end
  end
  local text = frame:format(indented(setup or "pass"), table.concat(names, ", ", 1, count), indented(forward), inputs)
  local path = check.write(check.folder() .. "/task.py", text)
  return cawb.task(path, { device = device, host = { host, hello } })
end

--- What compose makes of it: { source, plan, kernels, graph }, or nil and why not.
function M.make(forward, inputs, setup, options)
  local task <close> = assert(M.task(forward, inputs, setup))
  return compose.make(task, options)
end

--- Raises where the candidate is not right on the task. Returns what was made.
function M.right(forward, inputs, setup, options)
  local task <close> = assert(M.task(forward, inputs, setup))
  local made, why = compose.make(task, options)
  if not made then error(why, 2) end
  local r = assert(cawb.verify(task, cawb.candidate { source = made.source, plan = made.plan }, { trials = 1, repeats = 0 }))
  if not r.ok then
    local findings = r.findings and r.findings[1] and r.findings[1].text or ""
    error(("%s: %s %s\n%s\n%s"):format(r.stage, r.reason, findings, made.source, made.plan), 2)
  end
  return made
end

return M
