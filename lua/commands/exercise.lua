-- cawb exercise [N [my.cu]]: the workshop's exercises, and what an answer still lacks.

local cawb = require "cawb"
local class = require "cawb.door.class.command"
local client = require "cawb.door.class.client"
local command = require "cawb.door.command"
local core = require "cawb.core"
local display = require "cawb.base.display"
local exercises = require "cawb.door.exercises"
local file = require "cawb.base.file"
local loop = require "cawb.base.loop"

local M = { summary = "ten exercises in CUDA, and what an answer still lacks" }

M.usage = [[
usage: cawb exercise                      list them
       cawb exercise N                    what is to be done in exercise N
       cawb exercise N --start my.cu      write the file to begin with
       cawb exercise N my.cu              judge an answer
       cawb exercise N --hint             a hint
       cawb exercise N --solution         an answer
       cawb exercise FOLDER ...           the same with an exercise of your own
       cawb exercise class [flags]        judge what a class sends; the address that is printed shows the scoreboard

  --device NAME   where answers run, a simulated one (sim:h100)
  --small         sizes that are soon done; the counts are as telling, the times are not
  --watch         judge again at each save, until Ctrl-C
  --plain         judge without PyTorch, at small sizes, which is also done where there is none
  --class URL     send the answer to a class and print its verdict; --name NAME stands on its scoreboard
  --cheat         the answer is a cheat: is it caught by the strict judge, and by what?
  --counts        all counts too, by the names that goals use
  --json          one JSON object in place of the page

of a class:
  --host ADDRESS  where to listen (127.0.0.1); 0.0.0.0: everybody in the network can send kernels, which the simulator executes
  --port N        0 takes a free one (8000)
  --places N      answers that are judged at once (as many as cores)
  --out FILE      where turns are kept (class.jsonl); a class that is begun again goes on
  --torch         judge with PyTorch: more kinds of errors are told apart, and a turn takes longer

An answer is CUDA source; the exercise launches it. A plan of your own, my.lua beside my.cu, takes the place of the exercise's.
The goals are counts. A time beside them is modelled on a simulated device.

exit codes: 0 the answer is right and reaches its goals; 1 not yet; 2 wrong usage; 3 the machine lacks something
]]

local function list()
  local rows = {}
  for i, e in ipairs(exercises.list()) do
    local goals = {}
    for k, goal in ipairs(e.goals) do goals[k] = goal[1] end
    if e.compose then goals[#goals + 1] = "modelled time" end
    rows[i] = { tostring(e.number), e.title, table.concat(goals, "; ") }
  end
  command.print_table({ "", "exercise", "counts" }, rows)
  print "\ncawb exercise 1 says what is to be done in the first one"
  return 0
end

local function limit(goal)
  local parts = {}
  if goal.least then parts[#parts + 1] = ("at least %g"):format(goal.least) end
  if goal.most then parts[#parts + 1] = (goal.name:match "^modelled" and "less than %.3g" or "at most %g"):format(goal.most) end
  return table.concat(parts, ", ")
end

local function explain(e)
  print(("Exercise %s: %s\n\n%s\n"):format(e.word, e.title, e.about))
  for _, goal in ipairs(e.goals) do
    print(("goal: %s, %s: %s"):format(goal[1], limit { name = goal[1], least = goal.least, most = goal.most }, goal.says))
  end
  if e.compose then print "goal: a shorter modelled time than that of what cawb's own compose makes of the task" end
  print(("\nthe task and the launch: %s/task.py, plan.lua\nbegin: cawb exercise %s --start %s.cu; judge: cawb exercise %s %s.cu")
    :format(e.dir, e.word, e.name, e.word, e.name))
  return 0
end

local function begin(e, path)
  if core.fs.kind(path) then
    local other = e.name .. (core.fs.kind(e.name .. ".cu") and "_2.cu" or ".cu")
    command.wrong(("%s is there already; it is not overwritten: name another file, such as %s"):format(path, other))
  end
  command.need(file.write(path, exercises.text(e, "start")))
  print(("%s is written. Edit it, then: cawb exercise %s %s"):format(path, e.word, path))
  return 0
end

-- ---- an answer

local function print_goals(v)
  local rows = {}
  for i, goal in ipairs(v.goals) do
    rows[i] = { goal.name, goal.value and ("%.4g"):format(goal.value) or "none", limit(goal), goal.reached and "reached" or "not yet" }
  end
  command.print_table({ "goal", "counted", "wanted", "" }, rows)
  for _, goal in ipairs(v.goals) do
    if not goal.reached then print(("%s: %s"):format(goal.name, goal.says)) end
  end
end

local function print_wrong(v, say)
  local log = (v.log or ""):gsub("%s+$", "")
  if log:find(v.reason, 1, true) then return say(("wrong (%s):\n%s"):format(v.stage, log)) end
  say(("wrong (%s): %s"):format(v.stage, v.reason))
  if log ~= "" then say(log) end
end

-- Prints each text once, in which a kernel's file has the name of the answer.
local function sayer(path)
  local said, name = "", path:gsub("%%", "%%%%")
  return function(text)
    local shown = text:gsub("%f[%w_]kernel%.cu", name)
    if not said:find(shown:match "^[%l ]+: (.+)" or shown, 1, true) then print(shown) end
    said = said .. "\n" .. shown
  end
end

local function print_verdict(e, v, path)
  local say = sayer(path)
  if v.ok then print(("right, in %s modelled"):format(display.time(v.seconds))) else print_wrong(v, say) end
  for _, f in ipairs(v.found) do say(f.text) end
  if v.goals[1] then print_goals(v) end
  if v.passed then return print(("Exercise %s is solved."):format(e.word)) end
  print(("Not yet. A hint: cawb exercise %s --hint"):format(e.word))
end

-- An answer's text, and its own plan's where there is one.
local function texts_of(e, path)
  local source = file.read(path)
  if not source then command.wrong(("there is no file %s: cawb exercise %s --start %s writes one"):format(path, e.word, path)) end
  return source, file.read((path:gsub("%.cu$", "") .. ".lua"))
end

local function print_caught(v)
  print(v.caught and ("caught by %s: %s"):format(v.caught, v.reason) or "not caught: either it is no cheat, or the judge has a hole")
end

local function show(e, v, path, given)
  if given.json then print(core.json.encode(v)) elseif v.cheat then print_caught(v) else print_verdict(e, v, path) end
  io.stdout:flush()
  return (v.passed or v.cheat and not v.caught) and 0 or 1
end

local function print_counts(metrics)
  local rows = {}
  for name, value in pairs(metrics) do rows[#rows + 1] = { name, ("%.4g"):format(value) } end
  table.sort(rows, function(a, b) return a[1] < b[1] end)
  command.print_table({ "count", "value" }, rows)
end

local function turn(e, session, path, given, source, plan)
  local v = command.need(session[given.cheat and "cheat" or "judge"](session, source, plan))
  if given.counts and session.metrics and not given.json then print_counts(session.metrics) end
  if given.counts and not v.cheat then v.metrics = session.metrics end
  return show(e, v, path, given)
end

-- Wait until the texts differ from these; they are empty while an editor writes them.
local function changed(path, source, plan)
  local plan_path = path:gsub("%.cu$", "") .. ".lua"
  while true do
    local ok = loop.sleep(0.2)
    local now = file.read(path)
    if not ok then return false end
    if now and now ~= "" and (now ~= source or file.read(plan_path) ~= plan) then return true end
  end
end

local function watch(e, session, path, given)
  while true do
    local source, plan = texts_of(e, path)
    turn(e, session, path, given, source, plan)
    if not given.json then print(("\n-- waiting for the next save of %s; Ctrl-C ends"):format(path)) end
    io.stdout:flush()
    if not changed(path, source, plan) then return 0 end
    if not given.json then print "" end
  end
end

local function judge(e, path, given)
  local source, plan = texts_of(e, path)
  local device <close> = command.need(cawb.device(given.device or "sim:h100"))
  local session <close> = command.need(exercises.open(e, device, { small = given.small, plain = given.plain }))
  if session.plain and not given.plain then io.stderr:write "judged without PyTorch, at small sizes\n" end
  if given.watch then return watch(e, session, path, given) end
  return turn(e, session, path, given, source, plan)
end

-- ---- in a class

local function send(e, path, given)
  local source, plan = texts_of(e, path)
  local v = command.need(client.turn(given.class, { name = given.name, exercise = e.number, source = source, plan = plan, cheat = given.cheat or nil }))
  return show(e, v, path, given)
end

local own = { ["--start"] = "value", ["--hint"] = "flag", ["--solution"] = "flag", ["--device"] = "value", ["--small"] = "flag",
  ["--json"] = "flag", ["--watch"] = "flag", ["--plain"] = "flag", ["--class"] = "value", ["--name"] = "value", ["--cheat"] = "flag",
  ["--counts"] = "flag" }

local function one(e, path, given)
  if given.class and not e.number then command.wrong "a class has the exercises of its own machine: name one by its number" end
  if given.start then return begin(e, given.start) end
  if given.hint then return print(e.hint) or 0 end
  if given.class and not (path or given.solution) then command.wrong "--class sends an answer: cawb exercise 3 my.cu --class URL --name NAME" end
  if given.solution and given.class then return io.write((command.need(client.solution(given.class, e.number)))) and 0 end
  if given.solution then return io.write(exercises.text(e, "solution")) and 0 end
  if path then return (given.class and send or judge)(e, path, given) end
  return explain(e)
end

function M.main(argv)
  if argv[1] == "class" then return class.main { table.unpack(argv, 2) } end
  local given, words = command.flags(argv, own)
  if #words > 2 then command.wrong "an exercise and one file: cawb exercise 3 my.cu" end
  if not words[1] then return list() end
  return one(command.sound(exercises.find(words[1])), words[2], given)
end

return M
