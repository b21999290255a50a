-- main: what `cawb ...` does. One of
--   cawb STRATEGY.lua TASK.py [flags]   optimise (job.lua); a strategy of strategies/ by its name too
--   cawb TASK.py [flags]                the same with compose
--   cawb SCRIPT.lua [--] [arguments]    run a script that uses the module
--   cawb WORD [arguments]               a command: lua/commands/WORD.lua

local core = require "cawb.core"
local command_line = require "cawb.door.command_line"
local door = require "cawb.door.command"
require "cawb"                        -- gives the names that scripts may require
local arguments = require "cawb.door.arguments"
local job = require "cawb.door.job"
local page = require "cawb.door.page"
local place = require "cawb.base.place"
local strategy = require "cawb.base.strategy"
local suggest = require "cawb.base.suggest"

local function usage(message)
  io.stderr:write("cawb: ", message, "\nTry 'cawb help'.\n")
  return job.codes.usage
end

local function commands()
  local list = {}
  for _, file in ipairs(core.fs.list(core.home .. "/lua/commands") or {}) do
    list[#list + 1] = file:match "^(.*)%.lua$"
  end
  return list
end

local function load_command(word)
  for _, name in ipairs(commands()) do
    if name == word then return assert(loadfile(("%s/lua/commands/%s.lua"):format(core.home, word), "t"))() end
  end
end

-- Whether a command's own page is asked for, among its words.
local function wants_help(argv)
  if argv[2] == "help" then return true end
  for i = 2, #argv do
    if argv[i] == "--" then return false end
    if argv[i] == "--help" or argv[i] == "-h" then return true end
  end
  return false
end

local function print_usage(found)
  io.stdout:write(found.usage, found.usage:sub(-1) == "\n" and "" or "\n")
  return 0
end

local function print_page(name)
  io.stdout:write((assert(page.of(name))))
  return 0
end

local function unknown(word)
  if strategy.file(word) then
    return usage(("the strategy %s needs a task: cawb %s TASK.py"):format(word, word))
  end
  if core.fs.kind(word) == "folder" then return usage(arguments.no_task(word)) end
  if word:match "%.cu$" then return usage(arguments.a_kernel(word)) end
  local known = commands()
  return usage(("unknown command '%s'%s"):format(word,
    suggest.hint(word, table.move(strategy.names(), 1, #strategy.names(), #known + 1, known))))
end

local function command(word, argv)
  if word == "help" and argv[2] then word, argv = argv[2], { argv[2], "help" } end
  local found = load_command(word)
  if not found and wants_help(argv) and page.of(word) then return print_page(word) end
  if not found then return unknown(word) end
  if found.usage and wants_help(argv) then return print_usage(found) end
  return door.run(word, found, table.move(argv, 2, #argv, 1, {}))
end

-- A Lua file, with its words in `arg` as the plain interpreter has them. Returns what
-- it returned, or nil and a message, which `handler` has made of an error.
local function run_file(path, argv, handler)
  local chunk, message = loadfile(path, "t")
  if not chunk then return nil, message end
  arg = table.move(argv, 1, #argv, 0, {})
  local ok, value = xpcall(chunk, handler, table.unpack(argv, 2))
  if not ok then return nil, tostring(value) end
  if value == nil then return "nothing" end
  return value
end

-- An error with where it came from: the script's own lines alone, for those of the program say nothing to who wrote it. One
-- that the message names already is not told again.
local function own_lines(message)
  message = tostring(message)
  local ours, lines = "@" .. core.home .. "/lua/cawb/", { message }
  for level = 2, 50 do
    local f = debug.getinfo(level, "Sl")
    if not f then break end
    local where = ("%s:%d"):format(f.short_src, f.currentline)
    if f.currentline > 0 and f.source:sub(1, #ours) ~= ours and message:sub(1, #where) ~= where then
      lines[#lines + 1] = "  called in " .. where
    end
  end
  return table.concat(lines, "\n")
end

-- A script run for its own sake: its value is its exit status. If it returns a
-- strategy, a task is missing.
local function script(argv)
  if argv[2] == "--" then table.remove(argv, 2) end
  local value, message = run_file(argv[1], argv, own_lines)
  if value == nil then return usage(message) end
  if type(value) == "table" then
    return usage(("%s returns a strategy: name a task too, as in 'cawb %s task.py'")
      :format(argv[1], argv[1]))
  end
  return math.tointeger(value) or (value == false and 1) or 0
end

local function optimise(argv)
  local parsed, message = command_line.parse(argv)
  if not parsed then return usage(message) end
  if #parsed.words == 1 and parsed.words[1]:match "%.py$" then table.insert(parsed.words, 1, "compose") end
  if #parsed.words ~= 2 then
    return usage "a strategy and a task are needed: cawb STRATEGY TASK.py [flags]"
  end
  if parsed.words[1]:match "%.py$" and not parsed.words[2]:match "%.py$" then   -- the other way round
    parsed.words[1], parsed.words[2] = parsed.words[2], parsed.words[1]
  end
  if arguments.is_candidate(parsed.words[1]) then return usage(arguments.a_kernel(parsed.words[1], parsed.words[2])) end
  local word = parsed.words[1]
  if word:match "^%l[%l-]*$" and not strategy.file(word) and core.fs.kind(("%s/lua/commands/%s.lua"):format(core.home, word)) then
    return usage(("%s is a command, which comes first: cawb %s %s ... ('cawb help %s' says what else)"):format(word, word, parsed.words[2], word))
  end
  parsed.words[1] = strategy.file(parsed.words[1]) or place.file(parsed.words[1])
  if core.fs.kind(parsed.words[1]) ~= "file" then
    return usage(("%s: there is no such strategy%s"):format(parsed.words[1], suggest.hint(parsed.words[1], strategy.names())))
  end
  local value
  value, message = run_file(parsed.words[1], parsed.words, tostring)
  if value == nil then return usage(message) end
  if value == "nothing" then
    return usage(("%s returns nothing, a strategy returns a table (a script's own arguments "
      .. "follow --)"):format(parsed.words[1]))
  end
  return job.main(parsed, value)
end

-- A task among the words makes it a job, unless a command comes first; what follows -- is a
-- script's own.
local function is_job(argv)
  if strategy.file(argv[1]) and argv[2] then return true end
  if argv[1]:match "^%l[%l-]*$" then return false end
  for _, word in ipairs(argv) do
    if word == "--" then return false end
    if word:match "%.py$" then return true end
  end
  return argv[1]:sub(1, 1) == "-"
end

return function(argv)
  local first = argv[1]
  if not first then
    command("help", {})
    return job.codes.usage
  end
  if first == "--help" or first == "-h" then return command("help", argv) end
  if first == "--version" then
    print("cawb " .. core.version)
    return 0
  end
  if strategy.file(first) and wants_help(argv) then return print_page(first) end
  if is_job(argv) then return optimise(argv) end
  if first:match "%.lua$" then return script(argv) end
  return command(first, argv)
end
