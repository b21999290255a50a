-- cawb bench STRATEGY SUITE: a strategy on every task of a suite, resumable at any point.

local bench = require "cawb.suite.bench"
local calibrate = require "cawb.door.calibrate"
local command_line = require "cawb.door.command_line"
local command = require "cawb.door.command"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local device = require "cawb.gpu.device"
local job = require "cawb.door.job"
local kinds = require "cawb.gpu.kinds"
local ledger = require "cawb.run.ledger"
local live = require "cawb.door.live"
local loop = require "cawb.base.loop"
local options = require "cawb.base.options"
local display = require "cawb.base.display"
local rows = require "cawb.suite.rows"
local strategy = require "cawb.base.strategy"
local suite = require "cawb.suite.suite"
local suite_report = require "cawb.suite.report"

local M = { summary = "a strategy on every task of a suite: cawb bench STRATEGY SUITE" }

M.usage = [[
usage: cawb bench STRATEGY SUITE [filters] [flags]   (a file, or one of strategies/ by its name)

SUITE is a folder of task files, a .jsonl or .parquet file with the columns level, problem_id,
name, code (or ops, data_source, code), or a .lua file that returns a list of tasks. What is
recorded under --out is not run again: the same command goes on after any interruption.

filters
  --level 1,2  --id 1-20  --name PATTERN     tasks of these levels, ids, names (a Lua pattern)
  --shard 3/16                               the third of sixteen parts of what is left
flags
  --device cuda:all      one measurement at a time on every GPU; also cuda:0,cuda:2, sim:h100, auto
  --limit SECONDS        the longest that a task may take
  --jobs N               tasks at once on a simulated device (1)
  --ahead N              processes per GPU that get ready while another measures (1)
  --retry                try again what crashed, took too long or met an error
  --tokens N, --dollars D  what all tasks together may spend on a model; no request overshoots it
  --seed N               the same secret inputs for every run; --config, --set, --baseline and
  --out as for a run; --quiet, --json
]]

local own = { ["--level"] = "value", ["--id"] = "value", ["--name"] = "value", ["--shard"] = "value",
              ["--limit"] = "value", ["--jobs"] = "value", ["--ahead"] = "value", ["--tokens"] = "value", ["--dollars"] = "value",
              ["--retry"] = "flag" }

local function fail(message, name) return command.fail("bench", message, name) end

local function count_of(given, name, default)
  if not given[name] then return default end
  local n = tonumber(given[name])
  if not n or n < 0 then return nil, ("--%s '%s': a number is expected"):format(name, given[name]) end
  return math.tointeger(n) or n
end

-- The flags that go to every run as they were typed.
local function words_of(parsed)
  local words = {}
  local function add(flag, list)
    for _, value in ipairs(list) do words[#words + 1], words[#words + 2] = flag, value end
  end
  add("--config", parsed.configs)
  add("--set", parsed.sets)
  add("--baseline", parsed.baselines)
  if parsed.seed then add("--seed", { parsed.seed }) end
  return words
end

-- The options as a run will have them, and what the strategy proposes: what is wrong with them is
-- wrong with every task.
local function check_options(parsed)
  local value, message = strategy.load_table(parsed.words[1])
  if not value then return nil, message end
  local s
  s, message = strategy.check(value, parsed.words[1])
  if not s then return nil, message end
  local all = options.copy(defaults)
  all.settings = s.settings
  local ok
  ok, message = options.overlay(all, s.options, s.path)
  for _, path in ipairs(parsed.configs) do
    local layer
    if ok then layer, message = strategy.load_table(path) end
    ok = layer and true
    if ok then ok, message = options.overlay(all, layer, path) end
  end
  for _, assignment in ipairs(parsed.sets) do
    if ok then ok, message = options.set(all, assignment) end
  end
  if not ok then return nil, message end
  return all, s.proposes
end

-- Without ceilings no time is too short to be true, and no share of the bound is known.
local function calibrated(d, say)
  local known, message, name = calibrate.known(d, bench.lock_path(d.info.name), say)
  if known or name == "unsupported" then return end
  say(("%s: no ceilings, so no floor of times: %s; try cawb doctor --calibrate"):format(d.info.name, message))
end

-- "cuda:all" as names to try, "cuda:0,cuda:2" as those.
local function names_of(text)
  local names = {}
  if text == "cuda:all" then
    for i = 0, 15 do names[#names + 1] = "cuda:" .. i end
  else
    for name in text:gmatch "[^,]+" do names[#names + 1] = name end
  end
  return names
end

local function close_all(list)
  for _, d in ipairs(list) do d:close() end
end

-- Opened; of "cuda:all" as many as there are. One that cannot be opened, or that cannot run what is proposed, is
-- no task's fault.
local function open_all(text, all, proposes)
  local list = setmetatable({}, { __close = close_all })
  for _, name in ipairs(names_of(text)) do
    local d, message, why = device.open(name, { deadlines = all.deadlines })
    if not d and text == "cuda:all" and #list > 0 then return list end
    local refused = d and kinds.refusal(d, proposes)
    list[#list + 1] = d
    if not d or refused then
      close_all(list)
      return nil, message or refused, d and "usage" or why
    end
  end
  return list
end

-- The names of the devices that a text stands for. All are calibrated at once.
local function devices_of(text, all, proposes, say)
  local list <close>, message, why = open_all(text, all, proposes)
  if not list then return nil, message, why end
  local names, work = {}, {}
  for i, d in ipairs(list) do
    names[i], work[i] = d.info.name, function() calibrated(d, say) end
  end
  loop.all(work)
  return names
end

local function estimate(b)
  local e = b:estimate()
  if not e then return "" end
  return ("about %s left (%s to %s)"):format(live.glance(e.mean), live.glance(e.lo), live.glance(e.hi))
end

-- The terminal's last line: how far the suite is, and what its oldest task does.
local function tick(b, line)
  local now = core.clock.now()
  if now < (line.due or 0) then return end
  line.due = now + 1.0
  local job = b:oldest()
  if not job then return end
  local list = { { ("[%d/%d]"):format(#b.tasks - b:left(), #b.tasks), 0 }, { job.task.key, 1 }, { live.glance(now - job.from), 1 } }
  for _, part in ipairs(live.told(ledger.now_path(b.out, job.run))) do list[#list + 1] = part end
  if #b.running > 1 then list[#list + 1] = { ("%d under way"):format(#b.running), 9 } end
  local left = estimate(b)
  line:say(list, left ~= "" and { { left, 4 } } or {})
end

local function outcome(row)
  local best = row.data and row.data.best
  if not best then return ("%s: %s"):format(row.status, (tostring(row.reason):match "[^\n]*":sub(1,
    200):gsub(":$", ""))) end
  local parts = { row.status, display.interval(best.time_s) .. (best.modelled and " modelled" or "") }
  for _, kind in ipairs { "eager", "compile" } do
    if best.speedup and best.speedup[kind] then
      parts[#parts + 1] = ("%s %s"):format(kind, display.speedup(best.speedup[kind]))
    end
  end
  return table.concat(parts, "  ")
end

local function read_numbers(given)
  local n = {}
  for name, default in pairs { limit = 0, jobs = 1, ahead = 1, tokens = 0, dollars = 0 } do
    local message
    n[name], message = count_of(given, name, default)
    if not n[name] then return nil, message end
  end
  return n
end

local function tasks_of(parsed, given)
  local list, message, name = suite.load(parsed.words[2])
  if not list then return nil, message, name end
  list, message = suite.filter(list, given)
  if not list then return nil, message, "usage" end
  if #list == 0 then return nil, "no task of the suite is left by the filters", "usage" end
  return list
end

local function summary(b, all)
  local counts, names, mine, n = {}, {}, {}, 0
  for _, task in ipairs(all) do mine[task.key] = true end
  for _, row in ipairs(rows.read(b.store, b.suite)) do
    if mine[row.task] then
      n = n + 1
      if not counts[row.status] then names[#names + 1] = row.status end
      counts[row.status] = (counts[row.status] or 0) + 1
    end
  end
  table.sort(names, function(x, y) return counts[x] > counts[y] or counts[x] == counts[y] and x < y end)
  for i, name in ipairs(names) do names[i] = ("%d %s"):format(counts[name], name) end
  return ("%d of %d tasks: %s"):format(n, #all, table.concat(names, ", ")), n, counts
end

local function totals_of(n)
  return { tokens = n.tokens > 0 and n.tokens or nil, dollars = n.dollars > 0 and n.dollars or nil }
end

local function perform(parsed, given, n, all, proposes)
  local line <close> = live.of(io.stderr, 2, parsed.quiet):begin(all.live.every, all.live.lines)
  local function say(text)
    line:clear()
    if parsed.quiet then return end
    local width = line:width()
    for _, part in ipairs(width and display.wrap(text, width, "  ") or { text }) do io.stderr:write(part, "\n") end
  end
  local list, message, name = tasks_of(parsed, given)
  if not list then return fail(message, name) end
  local devices
  devices, message, name = devices_of(parsed.device, all, proposes, say)
  if not devices then return fail(message, name) end
  local limit = n.limit > 0 and n.limit or all.seconds + 2 * all.deadlines.start + all.deadlines.task
  local b
  b, message, name = bench.new { strategy = parsed.words[1], tasks = list, out = parsed.out, devices = devices,
    words = words_of(parsed), configs = parsed.configs, limit = limit, jobs = math.max(1, n.jobs), ahead = n.ahead,
    retry = given.retry, totals = totals_of(n), budget = all.budget, suite_path = parsed.words[2], shard = given.shard,
    tick = function(b) tick(b, line) end,
    say = function(task, row, seconds)
      local b = M.current
      say(("[%d/%d] %s  %s  (%.0f s)  %s"):format(#b.tasks - b:left(), #b.tasks, task.key, outcome(row), seconds,
        estimate(b)))
    end }
  if not b then return fail(message, name) end
  M.current = b
  say(("suite %s: %d tasks on %s"):format(b.suite, #list, table.concat(devices, ", ")))
  local ended
  ended, message, name = b:loop()
  line:say({}, {})
  line:clear()
  if not ended then return fail(message, name) end
  local text, done, counts = summary(b, list)
  if parsed.json then print(core.json.encode { suite = b.suite, tasks = #list, done = done, counts = counts,
    ended = ended })
  elseif not parsed.quiet then
    for _, line in ipairs(suite_report.lines(rows.read(b.store, b.suite), "this suite", { parsed.words[2] },
      core.fs.columns(1))) do print(line) end
    print(text)
  end
  if ended == "spent" then
    say(("what --tokens or --dollars allow is spent; %d tasks were not begun: the same command with more goes on")
      :format(#list - done))
  end
  if ended == "interrupted" then return job.codes.interrupted end
  return done == #list and job.codes.passed or job.codes.failed
end

function M.main(argv)
  local given, rest = command.take(argv, own)
  if not given then return fail(rest, "usage") end
  local parsed, message = command_line.parse(rest)
  if not parsed then return fail(message, "usage") end
  if parsed.words[1] then parsed.words[1] = strategy.file(parsed.words[1]) or parsed.words[1] end
  if #parsed.words ~= 2 then
    return fail("a strategy and a suite are needed: cawb bench STRATEGY SUITE [flags]", "usage")
  end
  local n, all
  n, message = read_numbers(given)
  if not n then return fail(message, "usage") end
  local proposes
  all, proposes = check_options(parsed)
  if not all then return fail(proposes, "usage") end
  return perform(parsed, given, n, all, proposes)
end

return M
