-- command: what the commands that look at one candidate share: `cawb WORD TASK.py CANDIDATE
-- [flags]`, from words to a device, a task and a candidate.

local command_line = require "cawb.door.command_line"
local defaults = require "cawb.base.defaults"
local device = require "cawb.gpu.device"
local arguments = require "cawb.door.arguments"
local job = require "cawb.door.job"
local kinds = require "cawb.gpu.kinds"
local options = require "cawb.base.options"
local scale = require "cawb.judge.task.scale"
local strategy = require "cawb.base.strategy"
local task = require "cawb.judge.task.task"

local M = {}

local usage = { usage = true, task = true, invalid = true, strategy = true }

--- Complain as `cawb WORD`, and return the exit code of a failure with this name.
function M.fail(word, message, name)
  io.stderr:write("cawb ", word, ": ", message, "\n")
  if name == "candidate" then return job.codes.failed end
  return usage[name] and job.codes.usage or job.codes.missing
end

--- The command's own flags, { ["--lines"] = "flag" or "value" }, out of the words: given, rest.
function M.take(argv, own)
  local given, rest, i = {}, {}, 1
  while i <= #argv do
    local name, value = argv[i]:match "^(%-%-[%w-]+)=(.*)$"
    name = name or argv[i]
    local kind = own[name]
    if not kind then rest[#rest + 1] = argv[i]
    elseif kind == "flag" then given[name:sub(3)] = true
    else
      if not value then
        i = i + 1
        value = argv[i]
      end
      if not value then return nil, name .. " needs a value" end
      given[name:sub(3)] = value
    end
    i = i + 1
  end
  return given, rest
end

local function layered(parsed)
  local all = options.copy(defaults)
  for _, path in ipairs(parsed.configs) do
    local layer, message = strategy.load_table(path)
    if not layer then return nil, message end
    local ok
    ok, message = options.overlay(all, layer, path)
    if not ok then return nil, message end
  end
  for _, assignment in ipairs(parsed.sets) do
    local ok, message = options.set(all, assignment)
    if not ok then return nil, message end
  end
  return all
end

local function with_task(parsed, all, dev, body, given)
  local c, message = arguments.candidate(parsed.words[2])
  if not c then return nil, message, "usage" end
  local refused = kinds.refusal(dev, c.python and "python" or "kernels")
  if refused then return nil, refused, "usage" end
  local t <close>, why, name = task.open(parsed.words[1], { device = dev, seed = parsed.seed, options = all })
  if not t then return nil, why, name end
  return body(t, c, all, given, parsed)
end

--- Parse, open, and call `body(task, candidate, options, given, cli)`, which returns an exit code, or
--- nil, message, name. `own` are the flags besides those of a run.
function M.main(word, argv, own, body)
  local given, rest = M.take(argv, own)
  if not given then return M.fail(word, rest, "usage") end
  local parsed, message = command_line.parse(rest)
  if not parsed then return M.fail(word, message, "usage") end
  if #parsed.words ~= 2 then
    return M.fail(word, ("a task and a candidate are needed: cawb %s TASK.py CANDIDATE [flags]"):format(word), "usage")
  end
  parsed.words = { arguments.order(table.unpack(parsed.words)) }
  local no_task = arguments.no_task(parsed.words[1])
  if no_task then return M.fail(word, no_task, "usage") end
  local all
  all, message = layered(parsed)
  if not all then return M.fail(word, message, "usage") end
  scale.prepare(all)
  local dev <close>, why, name = device.open(parsed.device,
    { deadlines = all.deadlines, compile = all.compile, simulate = all.simulate })
  if not dev then return M.fail(word, why, name) end
  local code
  code, message, name = with_task(parsed, all, dev, body, given)
  return code or M.fail(word, message, name)
end

return M
