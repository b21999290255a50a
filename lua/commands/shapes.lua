-- cawb shapes TASK.py CANDIDATE: does a candidate hold for sizes next to the task's own?

local shapes = require "cawb.door.shapes"
local command = require "cawb.door.command"
local core = require "cawb.core"
local arguments = require "cawb.door.arguments"
local job = require "cawb.door.job"
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
  local task <close> = command.need(tasks.open(path, { device = dev, options = all, host = host }))
  return task.info.constants
end

local function check(parsed, all, dev, candidate)
  local process <close>, hello = command.need(python.start(all.deadlines.start))
  local host, path = { process, hello }, parsed.words[1]
  return command.need(shapes.check(path, candidate, { device = dev, options = all,
    constants = constants_of(path, dev, all, host), host = host, say = not parsed.json and line or nil }))
end

function M.main(argv)
  local _, parsed = command.parse(argv, {})
  if #parsed.words ~= 2 then command.wrong "name a task and a candidate" end
  local all = command.options(parsed)
  local candidate = command.sound(arguments.candidate(parsed.words[2]))
  local dev <close> = command.device(parsed.device, all)
  local list = check(parsed, all, dev, candidate)
  if parsed.json then print(core.json.encode { shapes = core.json.array(list) }) end
  for _, found in ipairs(list) do
    if found.outcome == "wrong" then return job.codes.failed end
  end
  return job.codes.passed
end

return M
