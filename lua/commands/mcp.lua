-- cawb mcp STRATEGY.lua TASK.py: a run whose moves an agent elsewhere makes, through the Model
-- Context Protocol on standard input and output. Budgets, rules and the judge are the run's own. A
-- client that goes away pauses the run; --resume goes on with it.

local command_line = require "cawb.door.command_line"
local core = require "cawb.core"
local driver = require "cawb.agent.driver"
local job = require "cawb.door.job"
local ledger = require "cawb.run.ledger"
local mcp = require "cawb.agent.mcp"
local prompt = require "cawb.agent.prompt"
local report = require "cawb.door.report"
local resume = require "cawb.run.resume"
local run = require "cawb.run.run"
local session = require "cawb.agent.session"
local strategy = require "cawb.base.strategy"
local tools = require "cawb.agent.tools"

local M = { summary = "let an agent of your own drive a run: a server of the Model Context Protocol" }

M.usage = [[
usage: cawb mcp STRATEGY.lua TASK.py [flags of a run] [--resume RUN]

Speaks the Model Context Protocol on standard input and output; what it has to say goes to
standard error. The strategy gives the options: budgets, rules, reward; its own loop is not used.

  --resume RUN    go on with a run that was paused, by its name under --out
]]

local function log(text) io.stderr:write("cawb mcp: ", text, "\n") end

local function fail(message, name)
  log(message)
  return (name == "usage" or name == "strategy" or name == "invalid") and job.codes.usage or job.codes.missing
end

-- Standard output belongs to the protocol: what a strategy prints goes elsewhere.
local function take_output()
  local out = io.stdout
  print = function(...)
    local words = table.pack(...)
    for i = 1, words.n do words[i] = tostring(words[i]) end
    io.stderr:write(table.concat(words, "\t"), "\n")
  end
  io.output(io.stderr)
  io.stdout = io.stderr
  return out
end

-- The client is gone. What ended stays ended; what did not can be resumed.
local function close(r, how)
  driver.finish(r, log)
  if r.closed then
    if r.ended == "failed" then return fail(r.reason, r.reason_name) end
    return r.best and job.codes.passed or job.codes.failed
  end
  r.ended = nil
  r:record("paused", { spent = r:spent(), why = how })
  r.ledger:release(r.id)
  log(("paused after %d turn%s; go on with --resume %s"):format(#r.turns, #r.turns == 1 and "" or "s", r.id))
  if how == "interrupted" then return job.codes.interrupted end
  return r.best and job.codes.passed or job.codes.failed
end

local function open_run(parsed, s, all, t)
  local book, message, name = ledger.open(parsed.out)
  if not book then return nil, message, name end
  local stopped
  if parsed.resume then
    stopped, message, name = resume.read(book, parsed.resume, t)
    if not stopped then return nil, message, name end
    all.seconds = math.max(1e-3, all.seconds - stopped.seconds)
    book = resume.ledger(book, stopped)
  end
  for _, means in ipairs { "replies", "tokens", "dollars" } do all.budget[means] = 0 end   -- the client's own affair
  local r
  r, message, name = run.new { task = t, strategy = s, options = all, ledger = book,
    report = report.new(io.stderr, 2, parsed.quiet) }
  if r and stopped then resume.restore(r, stopped) end
  return r, message, name
end

local function serve(out)
  return function(parsed, s, all, _, t)
    local r, message, name = open_run(parsed, s, all, t)
    if not r then return fail(message, name) end
    local work
    work, message, name = session.new(r, { name = "mcp" })
    if not work then return fail(message, name) end
    local instructions
    instructions, message = prompt.fill(all.agent.prompt ~= "" and all.agent.prompt or "mcp", r)
    if not instructions then return fail(message, "usage") end
    r.memory.began = #r.turns                -- tells calls of one client from those of the next
    if not parsed.resume then r:record("message", { chat = 1, role = "system", text = instructions }) end
    r.report:run_begins(r)
    log("run " .. r.id)
    core.clock.patient(true)                 -- a client that leaves asks with a signal: the turn is finished
    local how = mcp.serve { tools = tools.list(work), instructions = instructions, log = log,
      call = function(tool, arguments, progress) return driver.call(r, work, tool, arguments, progress, log) end,
      read = mcp.lines(io.stdin, mcp.most),
      write = function(text) return out:write(text) and out:flush() end }
    return close(r, how)
  end
end

function M.main(argv)
  local out = take_output()
  local parsed, message = command_line.parse(argv)
  if not parsed then return fail(message, "usage") end
  if #parsed.words ~= 2 then return fail("a strategy and a task are needed: cawb mcp STRATEGY.lua TASK.py", "usage") end
  parsed.words[1] = strategy.file(parsed.words[1]) or parsed.words[1]
  local value
  value, message = strategy.load_table(parsed.words[1])
  if not value then return fail(message, "usage") end
  return job.main(parsed, value, serve(out))
end

return M
