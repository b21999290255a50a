-- job: `cawb STRATEGY.lua TASK.py`. From a parsed command line to an exit code.

local baselines = require "cawb.judge.time.baselines"
local core = require "cawb.core"
local ledger = require "cawb.run.ledger"
local live = require "cawb.door.live"
local opened = require "cawb.door.opened"
local report = require "cawb.door.report"
local result = require "cawb.run.result"
local resume = require "cawb.run.resume"
local run = require "cawb.run.run"
local strategy = require "cawb.base.strategy"

local M = {}

M.codes = { passed = 0, failed = 1, usage = 2, missing = 3, memory = 4, interrupted = 130 }

-- Errors that the command line, the strategy or the task's file caused.
local usage = { usage = true, task = true, strategy = true, invalid = true }

--- Say why it ended. Returns the exit code.
function M.complain(message, name)
  live.clear()
  io.stderr:write("cawb: ", message, "\n")
  if name == "interrupted" then return M.codes.interrupted end
  if name == "memory" then return M.codes.memory end
  return usage[name] and M.codes.usage or M.codes.missing
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
  if r.ended == "failed" then return M.complain(r.reason, r.reason_name) end
  return r.best and M.codes.passed or M.codes.failed
end

--- Begin a run of the strategy `s` on what is open (opened.lua), recorded in the store `command_line.out` and told to `report`
--- (report.lua). Returns the run, or nil, message, name.
function M.begin(command_line, s, o, report)
  local book, message, name = ledger.open(command_line.out)
  if not book then return nil, message, name end
  local stopped
  if command_line.resume then
    stopped, message, name = resume.read(book, command_line.resume, o.task)
    if not stopped then return nil, message, name end
    o.options.seconds, book = math.max(1e-3, o.options.seconds - stopped.seconds), resume.ledger(book, stopped)
  end
  local r
  r, message, name = run.new { task = o.task, strategy = s, options = o.options, ledger = book, report = report, id = command_line.run_id }
  if not r then return nil, message, name end
  report.live:tell(ledger.now_path(book.dir, r.id))
  if stopped then resume.restore(r, stopped) end
  report:run_begins(r)
  return r
end

--- The run is over: what it is compared with is complete, and the store has its end.
function M.finish(r)
  local ok, message, name = true, nil, nil
  if r.best and r.ended ~= "interrupted" then ok, message, name = baselines.complete(r.task, r.options.measure) end
  if not ok then M.complain(message, name) end
  ok, message, name = r.ledger:finish(r)
  if not ok then M.complain(message, name) end
  r.report.live:tell(nil)
  r.report:run_ends(r)
end

-- What the strategy would propose, at a level that it names; nothing is evaluated or recorded.
local function show(command_line, s, o)
  if not s.show then return M.complain(("%s shows nothing; compose does"):format(s.name), "usage") end
  local lines, message, name = s.show(o.task, o.options, command_line.show)
  if not lines then return M.complain(message, name) end
  io.stdout:write(table.concat(lines, "\n"), "\n")
  return M.codes.passed
end

-- The run itself, between opening and closing what it uses.
local function perform(command_line, s, o)
  local out, fd = io.stdout, 1
  if command_line.json then
    out, fd = io.stderr, 2
    M.print_elsewhere()
  end
  local r, message, name = M.begin(command_line, s, o, report.new(out, fd, command_line.quiet))
  if not r then return M.complain(message, name) end
  r:loop()
  M.finish(r)
  if command_line.json then print_json(r) end
  return exit_code(r)
end

--- Run a strategy on a task. `command_line` is what command_line.parse returned, with two words; `value`
--- is what the first one's chunk returned. Returns the exit code.
function M.main(command_line, value)
  local s, message = strategy.check(value, command_line.words[1])
  if not s then return M.complain(message, "usage") end
  local o <close>, why, name = opened.open(command_line, s, command_line.json)
  if not o then return M.complain(why, name) end
  return (command_line.show and show or perform)(command_line, s, o)
end

return M
