-- command: what commands share: flags, options, a device, a store, and the exit code of a failure. `cawb WORD` ends where
-- a call inside `need` fails (base/need.lua).

local command_line = require "cawb.door.command_line"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local device = require "cawb.gpu.device"
local display = require "cawb.base.display"
local arguments = require "cawb.door.arguments"
local candidates = require "cawb.judge.task.candidate"
local job = require "cawb.door.job"
local kinds = require "cawb.gpu.kinds"
local needed = require "cawb.base.need"
local options = require "cawb.base.options"
local restored = require "cawb.run.restored"
local scale = require "cawb.judge.task.scale"
local strategy = require "cawb.base.strategy"
local task = require "cawb.judge.task.task"
local variants = require "cawb.compose.variants"

local M = { need = needed.need, sound = needed.sound, fail = needed.fail, wrong = needed.wrong }

local need, sound = M.need, M.sound

local usage = { usage = true, task = true, invalid = true, strategy = true }

local function code_of(name)
  if name == "candidate" then return job.codes.failed end
  if name == "interrupted" then return job.codes.interrupted end
  return usage[name] and job.codes.usage or job.codes.missing
end

--- Run `cawb WORD`, whose file returned `command`, and complain if it fails. Returns the exit code.
function M.run(word, command, argv)
  local code, message, name = needed.caught(command.main, argv)
  if code ~= nil or message == nil then return code end
  if name == "interrupted" and command.goes_on then message = "interrupted; the same command goes on" end
  io.stderr:write("cawb ", word, ": ", message, "\n")
  return code_of(name)
end

--- The command's own flags, { ["--lines"] = "flag", "value" or "list" of values }, out of the words: given, rest.
function M.take(argv, own)
  local given, rest, i = {}, {}, 1
  for name, kind in pairs(own) do if kind == "list" then given[name:sub(3)] = {} end end
  while i <= #argv do
    local name, value = argv[i]:match "^(%-%-[%w-]+)=(.*)$"
    name = name or argv[i]
    local kind, key = own[name], name:sub(3)
    if not kind then rest[#rest + 1] = argv[i]
    elseif kind == "flag" then given[key] = true
    else
      if not value then
        i = i + 1
        value = sound(argv[i], name .. " needs a value")
      end
      if kind == "list" then table.insert(given[key], value) else given[key] = value end
    end
    i = i + 1
  end
  return given, rest
end

--- The command's own flags, and the words of a run without them: given, command_line.parse's table.
function M.parse(argv, own)
  local given, rest = M.take(argv, own)
  return given, sound(command_line.parse(rest))
end

--- The command's own flags where there are no others: given, words.
function M.flags(argv, own)
  local given, words = M.take(argv, own)
  for _, word in ipairs(words) do
    if word:sub(1, 1) == "-" then M.wrong(("unknown flag '%s'"):format(word)) end
  end
  return given, words
end

--- The program's options, or `all`, under --config and --set.
function M.options(parsed, all)
  all = all or options.copy(defaults)
  for _, path in ipairs(parsed.configs) do sound(options.overlay(all, sound(strategy.load_table(path)), path)) end
  for _, assignment in ipairs(parsed.sets) do sound(options.set(all, assignment)) end
  return all
end

--- A device, open; to be closed.
function M.device(name, all)
  return need(device.open(name, { deadlines = all.deadlines, compile = all.compile, simulate = all.simulate }))
end

--- The store in a folder, open; to be closed. `advice` is what to do where there is none.
function M.store(dir, advice)
  if not core.fs.kind(dir .. "/store.sqlite") then M.wrong(dir .. ": there is no store in it" .. (advice or "")) end
  return need(core.store.open(dir))
end

--- A turn of a recorded run, as of cawb.run.restored, whose task is what it was; `given` has the flags --out, --turn,
--- --task and --trust. Returns the store, to be closed, and the turn.
function M.turn(run, given)
  local out, id = restored.place(run, given.out or "cawb-runs")
  local store = M.store(out, "; --out says where the run was recorded")
  local was, message, name = restored.turn(store, id, given.turn and math.tointeger(tonumber(given.turn)), given.trust)
  if not was then M.fail(message, name or "usage") end
  was.run.task = given.task or was.run.task
  message = restored.task_changed(was.run)
  if message then M.wrong(message) end
  return store, was
end

--- The only word, which is no flag; `message` says what it is to be.
function M.only(words, message)
  if #words ~= 1 or words[1]:sub(1, 1) == "-" then M.wrong(message) end
  return words[1]
end

--- Print a table under its headings.
function M.print_table(headings, rows)
  for _, line in ipairs(display.table(headings, rows)) do print(line) end
end

-- What the compiler makes of a task: the candidate, and what is known of its kernels.
local function composed(t, all)
  local made = need(variants.make(t, all, variants.list[1]))
  return candidates.new { source = made.source, plan = made.plan, options = made.options, name = "compose" }, made
end

--- `cawb WORD TASK.py CANDIDATE [flags]`, of which `own` are not those of a run: open, and call `body(task, candidate,
--- options, given, command_line, made)`, which returns an exit code. The word `compose` is what the compiler makes of the task: `made`.
function M.main(word, argv, own, body)
  local given, parsed = M.parse(argv, own)
  if #parsed.words ~= 2 then
    M.wrong(("a task and a candidate are needed: cawb %s TASK.py CANDIDATE [flags]"):format(word))
  end
  parsed.words = { arguments.order(table.unpack(parsed.words)) }
  local no_task = arguments.no_task(parsed.words[1])
  if no_task then M.wrong(no_task) end
  local all = M.options(parsed)
  scale.prepare(all)
  local dev <close> = M.device(parsed.device, all)
  local named = parsed.words[2] ~= "compose" and sound(arguments.candidate(parsed.words[2]))
  local refused = kinds.refusal(dev, named and named.python and "python" or "kernels")
  if refused then M.wrong(refused) end
  local t <close> = need(task.open(parsed.words[1], { device = dev, seed = parsed.seed, options = all }))
  if named then return body(t, named, all, given, parsed) end
  local c, made = composed(t, all)
  return body(t, c, all, given, parsed, made)
end

return M
