-- agent: a run and a session for tests, in this process, on the simulated device.

local cawb = require "cawb"
local core = require "cawb.core"
local device = require "cawb.gpu.device"
local ledger = require "cawb.run.ledger"
local options = require "cawb.base.options"
local display = require "cawb.base.display"
local report = require "cawb.door.report"
local result = require "cawb.run.result"
local runs = require "cawb.run.run"
local strategy = require "cawb.base.strategy"
local task = require "cawb.judge.task.task"

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

local Place = {}
Place.__index = Place
function Place:close()
  self.task:close()
  self.device:close()
end
Place.__close = Place.close

--- The simulated device and a small softmax, which several runs may use.
function M.open(dir)
  local all = options.copy(cawb.defaults)
  all.task = { rows = 16, cols = 64 }
  all.sweep.variants = 2
  local dev = assert(device.open "sim:h100")
  local t = assert(task.open("examples/softmax.py", { device = dev, options = all, seed = "1" }))
  return setmetatable({ device = dev, task = t, options = all, dir = dir }, Place)
end

--- A run of a strategy ("react", or nothing for one without a loop) with these options.
function Place:run(set, name)
  local all, checked = options.copy(self.options), { name = "test", path = "test", settings = {} }
  if name then
    checked = assert(strategy.check(dofile(("strategies/%s.lua"):format(name)), ("strategies/%s.lua"):format(name)))
    assert(options.overlay(all, checked.options, name))
    for key, value in pairs(set and set.settings or {}) do checked.settings[key] = value end
  end
  local given = options.copy(set or {})
  given.settings = nil
  assert(options.overlay(all, given, "test"))
  return assert(runs.new { task = self.task, strategy = checked, options = all,
    ledger = assert(ledger.open(self.dir .. "/runs")), report = report.new(io.stderr, 2, true) })
end

--- That run to its end: the run, and its result as --json prints it.
function Place:finish(set, name)
  local r = self:run(set, name)
  r:loop()
  assert(r.ledger:finish(r))
  return r, result.run(r)
end

--- The events of a run, their data decoded.
function Place:events(r)
  local rows = assert(r.ledger.store:query("SELECT kind, turn, data FROM events WHERE run = ? ORDER BY number", r.id))
  for _, row in ipairs(rows) do row.data = core.json.decode(row.data) end
  return rows
end

--- A cassette of replies: { text, { tool, arguments }, ..., usage = }, or { error = { name, message } }.
function M.cassette(dir, name, replies)
  local lines = { '{"cassette":1,"about":"written by hand"}' }
  for _, r in ipairs(replies) do
    if r.error then lines[#lines + 1] = core.json.encode { error = { name = r.error[1], message = r.error[2] } }
    else
      local calls = core.json.array {}
      for i = 2, #r do calls[i - 1] = { name = r[i][1], arguments = r[i][2] or {}, bad = r[i].bad } end
      lines[#lines + 1] = core.json.encode { reply = { text = r[1], calls = calls, usage = r.usage } }
    end
  end
  local path = ("%s/%s.jsonl"):format(dir, name)
  local f = assert(io.open(path, "w"))
  f:write(table.concat(lines, "\n"), "\n")
  f:close()
  return path
end

return M
