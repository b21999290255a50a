-- cawb shapes TASK.py CANDIDATE: does a candidate hold for sizes next to the task's own?

local shapes = require "cawb.door.shapes"
local command_line = require "cawb.door.command_line"
local command = require "cawb.door.command"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local device = require "cawb.gpu.device"
local arguments = require "cawb.door.arguments"
local job = require "cawb.door.job"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local tasks = require "cawb.judge.task.task"

local M = { summary = "a candidate on sizes next to the task's own: one more, one less, a prime, 1" }

M.usage = [[
usage: cawb shapes TASK.py CANDIDATE [flags]

  CANDIDATE         a folder with kernel.cu and plan.lua, or a path as kernels/softmax/v3_shuffle
  --set task.rows=64   the size to start from
  --json            one JSON object in place of the lines
  --device, --seed  as of a run

A candidate may refuse a shape (its plan says no); it may not be wrong on it.

exit codes: 0 it was right or refused everywhere; 1 it was wrong; 2 wrong usage; 3 the machine lacks something
]]

local function words(shape)
  local list = {}
  for name, value in pairs(shape) do list[#list + 1] = ("%s=%d"):format(name, value) end
  return table.concat(list, " ")
end

local function line(found)
  local why = found.reason and ": " .. found.reason:gsub("\n.*", "") or ""
  print(("%-24s %s%s"):format(words(found.shape), found.outcome == "none" and "no such task" or found.outcome, why))
end

-- The task's constants at the size asked for.
local function constants_of(path, dev, all, host)
  local task <close>, message, name = tasks.open(path, { device = dev, options = all, host = host })
  if not task then return nil, message, name end
  return task.info.constants
end

local function check(parsed, all, dev, candidate)
  local process, hello, kind = python.start(all.deadlines.start)
  if not process then return nil, hello, kind end
  local host, path = { process, hello }, parsed.words[1]
  local constants, message, name = constants_of(path, dev, all, host)
  local list
  if constants then
    list, message, name = shapes.check(path, candidate, { device = dev, options = all, constants = constants,
      host = host, say = not parsed.json and line or nil })
  end
  process:close()
  return list, message, name
end

function M.main(argv)
  local parsed, message = command_line.parse(argv)
  if not parsed then return command.fail("shapes", message, "usage") end
  if #parsed.words ~= 2 then return command.fail("shapes", "name a task and a candidate", "usage") end
  local all, candidate = options.copy(defaults), nil
  for _, assignment in ipairs(parsed.sets) do
    local ok, why = options.set(all, assignment)
    if not ok then return command.fail("shapes", why, "usage") end
  end
  candidate, message = arguments.candidate(parsed.words[2])
  if not candidate then return command.fail("shapes", message, "usage") end
  local dev <close>, why, name = device.open(parsed.device)
  if not dev then return command.fail("shapes", why, name) end
  local list
  list, message, name = check(parsed, all, dev, candidate)
  if not list then return command.fail("shapes", message, name == "task" and "usage" or name) end
  if parsed.json then print(core.json.encode { shapes = core.json.array(list) }) end
  for _, found in ipairs(list) do
    if found.outcome == "wrong" then return job.codes.failed end
  end
  return job.codes.passed
end

return M
