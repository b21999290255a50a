-- compare: what strategies make of the same tasks: each pair is one run in a process of its own, and
-- what it printed as JSON is all that counts here.

local command_line = require "cawb.door.command_line"
local core = require "cawb.core"
local display = require "cawb.base.display"
local shell = require "cawb.base.shell"

local M = {}

-- The flags of every run.
local function flags_of(parsed)
  local words = { "--json", "--quiet", "--device", parsed.device, "--out", parsed.out }
  local function add(name, value) words[#words + 1] = name words[#words + 1] = value end
  for _, path in ipairs(parsed.configs) do add("--config", path) end
  for _, path in ipairs(parsed.baselines) do add("--baseline", path) end
  for _, assignment in ipairs(parsed.sets) do add("--set", assignment) end
  if parsed.seed then add("--seed", parsed.seed) end
  return words
end

-- "react" is strategies/react.lua.
local function path_of(name)
  return name:find "%.lua$" and name or ("%s/strategies/%s.lua"):format(core.home, name)
end

-- One run: its JSON object, or nil and the exit code.
local function perform(strategy, task, flags)
  local words = { shell.quoted(core.program), shell.quoted(path_of(strategy)), shell.quoted(task) }
  for _, word in ipairs(flags) do words[#words + 1] = shell.quoted(word) end
  local pipe = assert(io.popen(table.concat(words, " "), "r"))
  local out = pipe:read "a"
  local _, how, code = pipe:close()
  local r = core.json.decode(out:match "([^\n]+)\n?$" or "")
  if type(r) ~= "table" or not r.turns then return nil, how == "exit" and code or 1 end
  return r
end

local function median(turn, kind) return turn.speedup and turn.speedup[kind] and turn.speedup[kind].median end

--- The best so far after every turn: { { turn =, spent =, reward =, eager =, compile = }, ... }.
function M.curve(r)
  local points, best = {}, nil
  for i, turn in ipairs(r.turns) do
    local better = turn.ok and (not best or turn.reward > best.reward
      or turn.reward == best.reward and turn.time_s.median < best.time_s.median)
    if better then best = turn end
    points[i] = { turn = turn.number, spent = turn.spent or {}, reward = best and best.reward,
                  eager = best and median(best, "eager"), compile = best and median(best, "compile") }
  end
  return points
end

local means = { "replies", "tokens", "dollars", "device_seconds", "seconds" }

local function cell(x)
  if not x then return "-" end
  return x == math.floor(x) and ("%d"):format(x) or ("%.4g"):format(x)
end

local function row_of(task, strategy, r)
  local best = r.best and r.turns[r.best] or {}
  local row = { (task:match "([^/]+)%.py$" or task), (strategy:match "([^/]+)%.lua$" or strategy),
    display.speedup(best.speedup and best.speedup.eager), display.speedup(best.speedup and best.speedup.compile),
    best.reward and ("%.3g"):format(best.reward) or "-", cell(#r.turns) }
  for _, name in ipairs(means) do row[#row + 1] = cell(r.spent[name]) end
  row[#row + 1] = r.ended
  return row
end

local function write_curves(path, results)
  local f, message = io.open(path, "w")
  if not f then return nil, message end
  f:write("task,strategy,turn,", table.concat(means, ","), ",reward,eager,compile,modelled\n")
  for _, one in ipairs(results) do
    for _, p in ipairs(M.curve(one.result)) do
      local cells = { one.task, one.strategy, p.turn }
      for _, name in ipairs(means) do cells[#cells + 1] = p.spent[name] or "" end
      for _, key in ipairs { "reward", "eager", "compile" } do cells[#cells + 1] = p[key] or "" end
      cells[#cells + 1] = tostring(one.result.modelled)
      f:write(table.concat(cells, ","), "\n")
    end
  end
  return f:close()
end

local function run_all(strategies, tasks, flags)
  local results, missing = {}, 0
  for _, task in ipairs(tasks) do
    for _, strategy in ipairs(strategies) do
      io.stderr:write(("%s on %s ...\n"):format(strategy, task))
      local r, code = perform(strategy, task, flags)
      if r then results[#results + 1] = { task = task, strategy = strategy, result = r }
      else
        missing = code
        io.stderr:write(("%s on %s: no result, exit code %d\n"):format(strategy, task, code))
      end
    end
  end
  return results, missing
end

local headings = { "task", "strategy", "vs eager", "vs compile", "reward", "turns", "replies", "tokens", "dollars",
                   "device s", "seconds", "ended" }

--- `argv`: STRATEGY,STRATEGY,... TASK.py ... and the flags of a run. Returns the exit code.
function M.main(argv)
  local parsed, message = command_line.parse(argv)
  if not parsed or #parsed.words < 2 then
    io.stderr:write("compare: ", message or "strategies and a task are needed: cawb strategies/side_by_side.lua -- "
      .. "single,repair,react TASK.py ... [flags]", "\n")
    return 2
  end
  local strategies = {}
  for name in parsed.words[1]:gmatch "[^,]+" do strategies[#strategies + 1] = name end
  local results, missing = run_all(strategies, table.move(parsed.words, 2, #parsed.words, 1, {}), flags_of(parsed))
  if #results == 0 then return missing end
  local rows = {}
  for i, one in ipairs(results) do rows[i] = row_of(one.task, one.strategy, one.result) end
  for _, line in ipairs(display.table(headings, rows)) do print(line) end
  if results[1].result.modelled then print "times are modelled, not measured" end
  local path = ("%s/compare-%s.csv"):format(parsed.out, os.date "!%Y%m%dT%H%M%SZ")
  local ok, why = write_curves(path, results)
  print(ok and "the best after every turn is in " .. path or "no curves: " .. tostring(why))
  return missing
end

return M
