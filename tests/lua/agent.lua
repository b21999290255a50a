-- agent: a run and a session for tests, in this process, on the simulated device.

local cawb = require "cawb"
local core = require "cawb.core"
local device = require "cawb.device"
local ledger = require "cawb.ledger"
local options = require "cawb.options"
local report = require "cawb.report"
local runs = require "cawb.run"
local task = require "cawb.task"

local M = {}

local function read(path)
  local f = assert(io.open(path, "rb"))
  local text = f:read "a"
  f:close()
  return text
end

--- kernel.cu and plan.lua of a rung: M.rung "softmax/v2_block_per_row".
function M.rung(name)
  local path = core.home .. "/kernels/" .. name
  return read(path .. ".cu"), read(path .. ".lua")
end

--- A run of `strategy` (a table for strategy.check, or nothing) with these options over small
--- defaults; closes its device and task.
function M.run(dir, set, strategy)
  local all = options.copy(cawb.defaults)
  all.task = { rows = 16, cols = 64 }
  all.sweep.variants = 2
  assert(options.overlay(all, set or {}, "test"))
  local dev = assert(device.open "sim:h100")
  local t = assert(task.open("examples/softmax.py", { device = dev, options = all, seed = "1" }))
  local r = assert(runs.new { task = t, strategy = strategy or { name = "test", path = "test", settings = {} },
    options = all, ledger = assert(ledger.open(dir .. "/runs")), report = report.new(io.stderr, 2, true) })
  return setmetatable({ run = r }, { __close = function() t:close() dev:close() end })
end

return M
