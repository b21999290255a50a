-- opened: what a strategy, or a judge, works with: from a parsed command line to the options, the device and the task, which
-- close together.

local afford = require "cawb.agent.afford"
local baselines = require "cawb.judge.time.baselines"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local device = require "cawb.gpu.device"
local given = require "cawb.door.arguments"
local kinds = require "cawb.gpu.kinds"
local ledger = require "cawb.run.ledger"
local live = require "cawb.door.live"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local rules = require "cawb.judge.rules"
local scale = require "cawb.judge.task.scale"
local strategy = require "cawb.base.strategy"
local task = require "cawb.judge.task.task"

local M = {}

local Opened = {}
Opened.__index = Opened

--- The task first: with it the device's memory is free, and who waits for the lock need not wait until processes are gone.
function Opened:close()
  if self.task then self.task:close() end
  if self.lock then self.lock:close() end
  if self.host then self.host[1]:close() end
  if self.device then self.device:close() end
  if self.line then self.line:close() end
end
Opened.__close = Opened.close

local function layered(command_line, s)
  local all = options.copy(defaults)
  all.settings = s.settings
  local ok, message = options.overlay(all, s.options, s.path)
  for _, path in ipairs(command_line.configs) do
    local layer
    if ok then layer, message = strategy.load_table(path) end
    ok = layer and true
    if ok then ok, message = options.overlay(all, layer, path) end
  end
  for _, assignment in ipairs(command_line.sets) do
    if ok then ok, message = options.set(all, assignment) end
  end
  for _, path in ipairs(command_line.baselines) do
    local one, why
    if ok then one, why = baselines.from_path(path) end
    if ok and not one then ok, message = nil, ("--baseline: %s"):format(why) end
    if one then table.insert(all.measure.against, one) end
  end
  if ok then ok, message = rules.set(all.rules) end
  if not ok then return nil, message end
  return all
end

-- Why a strategy that asks a model cannot, as far as its options tell; or nil.
local function no_model(s, all)
  if not s.asks or all.cassette.replay ~= "" then return nil end
  if all.model.name == "" then
    return ("%s asks a language model, and none is named: --set model.name=NAME, and model.url where it is "
      .. "not %s"):format(s.name, all.model.url)
  end
  return afford.unknown_price(all.model, all.budget.dollars)
end

local function bad_seed(seed)
  return seed and not seed:match "^%w+$" and ("--seed '%s': use letters and digits"):format(seed) or nil
end

-- The options, or nil and what is wrong with the words.
local function understood(command_line, s)
  local all, message = layered(command_line, s)
  if not all then return nil, message end
  s.settings = all.settings
  message = no_model(s, all) or bad_seed(command_line.seed) or given.no_task(command_line.words[2])
  if message then return nil, message end
  scale.prepare(all)
  return all
end

-- Shapes and the op graph of the task, where the strategy sees in them that it has nothing to propose: then the device
-- is not needed. A strategy may begin to build meanwhile. Nil: the task is to be loaded.
local function glanced(o, command_line, s)
  if not s.glance then return nil end
  local t = task.open(command_line.words[2],
    { device = o.device, seed = command_line.seed, options = options.copy(o.options), host = o.host, look = true })
  if t and s.glance(t, o.options) == false then return t end
  if t then t:close() end
end

-- A task host that has met the device: { process, hello }, or nil, message, name.
local function ready_host(o)
  local host, hello, name = python.start(o.options.deadlines.start)
  if not host then return nil, hello, name end
  local ready, message, why = task.prepare(host, o.device, o.options)
  if ready then return { host, hello } end
  host:close()
  return nil, message, why
end

-- One's turn on a device that others use too: what takes long and computes nothing there, the
-- start of Python, its first contact with the GPU, a warm compiler, is done while waiting.
-- Or the task already, where this strategy has nothing for it.
local function queue(o, command_line, s)
  local message, why
  o.host, message, why = ready_host(o)
  if not o.host then return nil, message, why end
  o.task = glanced(o, command_line, s)
  if o.task then return true end
  task.compile_ahead(o.host[1], command_line.words[2], o.device, o.options, command_line.lock)
  if not o.host[1]:alive() then o.host, message, why = ready_host(o) end
  if not o.host then return nil, message, why end
  o.lock, message, why = core.fs.lock(command_line.lock)
  if not o.lock then return nil, message, why end
  return true
end

-- The device, one's turn on it, the task. True, or nil, message, name.
local function fill(o, command_line, s)
  local all, message, name = o.options, nil, nil
  o.line:tell(command_line.run_id and ledger.now_path(command_line.out, command_line.run_id))     -- who gave it a name may look already
  o.device, message, name = device.open(command_line.device, { deadlines = all.deadlines, compile = all.compile, simulate = all.simulate })
  if not o.device then return nil, message, name end
  message = kinds.refusal(o.device, s.proposes)
  if message then return nil, message, "usage" end
  if command_line.lock then
    local ok
    ok, message, name = queue(o, command_line, s)
    if not ok then return nil, message, name end
  end
  if o.task then return true end
  o.task, message, name = task.open(command_line.words[2], { device = o.device, seed = command_line.seed, options = all, host = o.host,
    look = command_line.show ~= nil })
  if not o.task then return nil, message, name end
  return true
end

--- Open what the strategy `s` (strategy.check) works with on the task command_line.words[2]. `aside`: standard output is for something
--- else. Returns { options, device, task }, to be closed, or nil, message, name.
function M.open(command_line, s, aside)
  local all, message = understood(command_line, s)
  if not all then return nil, message, "usage" end
  local o = setmetatable({ options = all }, Opened)
  o.line = live.of(aside and io.stderr or io.stdout, aside and 2 or 1, command_line.quiet):begin(all.live.every, all.live.lines)
  local ok, why, name = fill(o, command_line, s)
  if ok then return o end
  o:close()
  return nil, why, name
end

return M
