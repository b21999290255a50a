-- job: `cawb STRATEGY.lua TASK.py`. From a parsed command line to an exit code.

local afford = require "cawb.agent.afford"
local baselines = require "cawb.judge.time.baselines"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local device = require "cawb.gpu.device"
local arguments = require "cawb.door.arguments"
local kinds = require "cawb.gpu.kinds"
local ledger = require "cawb.run.ledger"
local live = require "cawb.door.live"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local report = require "cawb.door.report"
local result = require "cawb.run.result"
local resume = require "cawb.run.resume"
local rules = require "cawb.judge.rules"
local run = require "cawb.run.run"
local scale = require "cawb.judge.task.scale"
local strategy = require "cawb.base.strategy"
local task = require "cawb.judge.task.task"

local M = {}

M.codes = { passed = 0, failed = 1, usage = 2, missing = 3, memory = 4, interrupted = 130 }

-- Errors that the command line, the strategy or the task's file caused.
local usage = { usage = true, task = true, strategy = true, invalid = true }

local function complain(message, name)
  live.clear()
  io.stderr:write("cawb: ", message, "\n")
  if name == "interrupted" then return M.codes.interrupted end
  if name == "memory" then return M.codes.memory end
  return usage[name] and M.codes.usage or M.codes.missing
end

local function layered(cli, s)
  local all = options.copy(defaults)
  all.settings = s.settings
  local ok, message = options.overlay(all, s.options, s.path)
  for _, path in ipairs(cli.configs) do
    local layer
    if ok then layer, message = strategy.load_table(path) end
    ok = layer and true
    if ok then ok, message = options.overlay(all, layer, path) end
  end
  for _, assignment in ipairs(cli.sets) do
    if ok then ok, message = options.set(all, assignment) end
  end
  for _, path in ipairs(cli.baselines) do
    local one, why
    if ok then one, why = baselines.from_path(path) end
    if ok and not one then ok, message = nil, ("--baseline: %s"):format(why) end
    if one then table.insert(all.measure.against, one) end
  end
  if ok then ok, message = rules.set(all.rules) end
  if not ok then return nil, message end
  return all
end

local function print_json(r)
  io.stdout:write(core.json.encode(result.run(r)), "\n")
end

--- With --json standard output is for one object: what a strategy prints goes elsewhere.
function M.print_elsewhere()
  print = function(...)
    local words = table.pack(...)
    for i = 1, words.n do words[i] = tostring(words[i]) end
    io.stderr:write(table.concat(words, "\t"), "\n")
  end
end

local function exit_code(r)
  if r.ended == "interrupted" then return M.codes.interrupted end
  if r.ended == "failed" then return complain(r.reason, r.reason_name) end
  return r.best and M.codes.passed or M.codes.failed
end

--- A run of the strategy on the open task, recorded in the store `cli.out` and told to `report` (report.lua). Returns the
--- run, or nil and the exit code of what was complained about.
function M.carry_out(cli, s, all, dev, t, report)
  local book, message, name = ledger.open(cli.out)
  if not book then return nil, complain(message, name) end
  local stopped
  if cli.resume then
    stopped, message, name = resume.read(book, cli.resume, t)
    if not stopped then return nil, complain(message, name) end
    all.seconds, book = math.max(1e-3, all.seconds - stopped.seconds), resume.ledger(book, stopped)
  end
  local r
  r, message, name = run.new { task = t, strategy = s, options = all, ledger = book, report = report, id = cli.run_id }
  if not r then return nil, complain(message, name) end
  report.live:tell(ledger.now_path(book.dir, r.id))
  if stopped then resume.restore(r, stopped) end
  report:run_begins(r)
  r:loop()
  local ok = true
  if r.best and r.ended ~= "interrupted" then ok, message, name = baselines.complete(t, all.measure) end
  if not ok then complain(message, name) end
  ok, message, name = book:finish(r)
  if not ok then complain(message, name) end
  report.live:tell(nil)
  report:run_ends(r)
  return r
end

-- The run itself, between opening and closing what it uses.
local function perform(cli, s, all, dev, t)
  local out, fd = io.stdout, 1
  if cli.json then
    out, fd = io.stderr, 2
    M.print_elsewhere()
  end
  local r, code = M.carry_out(cli, s, all, dev, t, report.new(out, fd, cli.quiet))
  if not r then return code end
  if cli.json then print_json(r) end
  return exit_code(r)
end

-- Shapes and the op graph of the task, where the strategy sees in them that it has nothing to propose: then the device
-- is not needed. A strategy may begin to build meanwhile. Nil: the task is to be loaded.
local function glanced(cli, s, all, dev, host)
  if not s.glance then return nil end
  local t = task.open(cli.words[2], { device = dev, seed = cli.seed, options = options.copy(all), host = host, look = true })
  if t and s.glance(t, all) == false then return t end
  if t then t:close() end
end

-- A task host that has met the device: { process, hello }, or nil, message, name.
local function ready_host(dev, all)
  local host, hello, name = python.start(all.deadlines.start)
  if not host then return nil, hello, name end
  local ready, message, why = task.prepare(host, dev, all)
  if ready then return { host, hello } end
  host:close()
  return nil, message, why
end

-- One's turn on a device that others use too: what takes long and computes nothing there, the
-- start of Python, its first contact with the GPU, a warm compiler, is done while waiting.
-- Returns { host = the task host, glanced = the task where this strategy has nothing for it }, to be closed.
local function queue(cli, s, all, dev)
  local place = setmetatable({}, { __close = function(self)
    -- The task is closed by now, and the device's memory free: the next one need not wait until these processes are gone.
    if self.lock then self.lock:close() end
    if self.host then self.host[1]:close() end
    if self.lock then dev:close() end
  end })
  if not cli.lock then return place end
  local message, why
  place.host, message, why = ready_host(dev, all)
  if not place.host then return nil, message, why end
  place.glanced = glanced(cli, s, all, dev, place.host)
  if place.glanced then return place end
  task.compile_ahead(place.host[1], cli.words[2], dev, all, cli.lock)
  if not place.host[1]:alive() then place.host, message, why = ready_host(dev, all) end
  if not place.host then return nil, message, why end
  place.lock, message, why = core.fs.lock(cli.lock)
  if not place.lock then return nil, message, why end
  return place
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

local function check_seed(seed)
  if seed and not seed:match "^%w+$" then
    return nil, ("--seed '%s': use letters and digits"):format(seed)
  end
  return true
end

--- Run a strategy on a task. `cli` is what command_line.parse returned, with two words; `value`
--- is what the first one's chunk returned. `body(cli, strategy, options, device, task)`, which
--- returns an exit code, is called in place of the strategy's loop where it is given. Returns the
--- exit code.
function M.main(cli, value, body)
  local s, message = strategy.check(value, cli.words[1])
  if not s then return complain(message, "usage") end
  local all
  all, message = layered(cli, s)
  if not all then return complain(message, "usage") end
  s.settings = all.settings
  message = no_model(s, all)
  if message then return complain(message, "usage") end
  local good
  good, message = check_seed(cli.seed)
  if not good then return complain(message, "usage") end
  local no_task = arguments.no_task(cli.words[2])
  if no_task then return complain(no_task, "usage") end
  scale.prepare(all)
  local aside = cli.json or body ~= nil        -- standard output is for something else
  local line <close> = live.of(aside and io.stderr or io.stdout, aside and 2 or 1, cli.quiet):begin(all.live.every, all.live.lines)
  line:tell(cli.run_id and ledger.now_path(cli.out, cli.run_id))     -- who gave it a name may look already
  local dev <close>, why, name = device.open(cli.device,
    { deadlines = all.deadlines, compile = all.compile, simulate = all.simulate })
  if not dev then return complain(why, name) end
  local refused = kinds.refusal(dev, s.proposes or body and "kernels")
  if refused then return complain(refused, "usage") end
  local place <close>, no, kind = queue(cli, s, all, dev)
  if not place then return complain(no, kind) end
  local function open()
    if place.glanced then return place.glanced end
    return task.open(cli.words[2], { device = dev, seed = cli.seed, options = all, host = place.host })
  end
  local t <close>, why2, name2 = open()
  if not t then return complain(why2, name2) end
  return (body or perform)(cli, s, all, dev, t)
end

return M
