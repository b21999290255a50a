-- cawb mcp STRATEGY.lua TASK.py: a run whose moves an agent elsewhere makes, through the Model
-- Context Protocol on standard input and output. Budgets, rules and the judge are the run's own. A
-- client that goes away pauses the run; --resume goes on with it.

local command_line = require "cawb.door.command_line"
local command = require "cawb.door.command"
local core = require "cawb.core"
local driver = require "cawb.agent.driver"
local job = require "cawb.door.job"
local opened = require "cawb.door.opened"
local mcp = require "cawb.agent.mcp"
local prompt = require "cawb.agent.prompt"
local report = require "cawb.door.report"
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

local need, sound = command.need, command.sound

-- Standard output belongs to the protocol: what a strategy prints goes elsewhere.
local function take_output()
  local out = io.stdout
  job.print_elsewhere()
  io.output(io.stderr)
  io.stdout = io.stderr
  return out
end

-- The client is gone. What ended stays ended; what did not can be resumed.
local function close(r, how)
  driver.finish(r, log)
  r.report.live:tell(nil)
  if r.closed then
    if r.ended == "failed" then command.fail(r.reason, r.reason_name) end
    return r.best and job.codes.passed or job.codes.failed
  end
  r.ended = nil
  r:record("paused", { spent = r:spent(), why = how })
  r.ledger:release(r.id)
  log(("paused after %d turn%s; go on with --resume %s"):format(#r.turns, #r.turns == 1 and "" or "s", r.id))
  if how == "interrupted" then return job.codes.interrupted end
  return r.best and job.codes.passed or job.codes.failed
end

local function serve(out, parsed, s, o)
  local all = o.options
  for _, means in ipairs { "replies", "tokens", "dollars" } do all.budget[means] = 0 end   -- the client's own affair
  local r = need(job.begin(parsed, s, o, report.new(io.stderr, 2, parsed.quiet)))
  local work = need(session.new(r, { name = "mcp" }))
  local instructions = sound(prompt.fill(all.agent.prompt ~= "" and all.agent.prompt or "mcp", r))
  r.memory.began = #r.turns                -- tells calls of one client from those of the next
  if not parsed.resume then r:record("message", { chat = 1, role = "system", text = instructions }) end
  log("run " .. r.id)
  core.clock.patient(true)                 -- a client that leaves asks with a signal: the turn is finished
  local how = mcp.serve { tools = tools.list(work), instructions = instructions, log = log,
    call = function(tool, arguments, progress) return driver.call(r, work, tool, arguments, progress, log) end,
    read = mcp.lines(io.stdin, mcp.most),
    write = function(text) return out:write(text) and out:flush() end }
  return close(r, how)
end

function M.main(argv)
  local out = take_output()
  local parsed = sound(command_line.parse(argv))
  if #parsed.words ~= 2 then command.wrong "a strategy and a task are needed: cawb mcp STRATEGY.lua TASK.py" end
  parsed.words[1] = strategy.file(parsed.words[1]) or parsed.words[1]
  local s = sound(strategy.check(sound(strategy.load_table(parsed.words[1])), parsed.words[1]))
  s.proposes = s.proposes or "kernels"
  local o <close> = need(opened.open(parsed, s, true))
  return serve(out, parsed, s, o)
end

return M
