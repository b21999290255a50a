-- cawb bench STRATEGY.lua SUITE: a strategy on every task of a suite, resumable at any point.

local bench = require "cawb.suite.bench"
local calibrate = require "cawb.door.calibrate"
local cli = require "cawb.door.cli"
local command = require "cawb.door.command"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local device = require "cawb.device.device"
local job = require "cawb.door.job"
local kinds = require "cawb.device.kinds"
local options = require "cawb.base.options"
local display = require "cawb.base.display"
local rows = require "cawb.suite.rows"
local strategy = require "cawb.base.strategy"
local suite = require "cawb.suite.suite"
local suite_report = require "cawb.suite.report"

local M = { summary = "a strategy on every task of a suite: cawb bench STRATEGY.lua SUITE" }

local usage = [[
usage: cawb bench STRATEGY.lua SUITE [filters] [flags]

SUITE is a folder of task files, a .jsonl or .parquet file with the columns level, problem_id,
name, code (or ops, data_source, code), or a .lua file that returns a list of tasks. What is
recorded under --out is not run again: the same command goes on after any interruption.

filters
  --level 1,2  --id 1-20  --name PATTERN     tasks of these levels, ids, names (a Lua pattern)
  --shard 3/16                               the third of sixteen parts of what is left
flags
  --device cuda:all      one measurement at a time on every GPU; also cuda:N, sim:h100, auto
  --limit SECONDS        the longest that a task may take
  --jobs N               tasks at once on a simulated device (1)
  --ahead N              processes per GPU that get ready while another measures (1)
  --retry                try again what crashed, took too long or met an error
  --seed N               the same secret inputs for every run; --config, --set, --baseline and
  --out as for a run; --quiet, --json
]]

local own = { ["--level"] = "value", ["--id"] = "value", ["--name"] = "value", ["--shard"] = "value",
              ["--limit"] = "value", ["--jobs"] = "value", ["--ahead"] = "value",
              ["--retry"] = "flag", ["--help"] = "flag" }

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

-- The devices that a name stands for. One that cannot be opened, or that cannot run what is
-- proposed, is no task's fault.
local function devices_of(name, all, proposes, say)
  local list, why, kind = {}, nil, nil
  local names = name == "cuda:all" and {} or { name }
  if name == "cuda:all" then for i = 0, 15 do names[#names + 1] = "cuda:" .. i end end
  for _, one in ipairs(names) do
    local d <close>, message, how = device.open(one, { deadlines = all.deadlines })
    if not d then
      why, kind = message, how
      break
    end
    local refused = kinds.refusal(d, proposes)
    if refused then return nil, refused, "usage" end
    calibrated(d, say)
    list[#list + 1] = d.info.name
  end
  if #list == 0 then return nil, why, kind end
  return list
end

local function minutes(s)
  return s < 90 and ("%.0f s"):format(s) or s < 5400 and ("%.0f min"):format(s / 60) or ("%.1f h"):format(s / 3600)
end

local function estimate(b)
  local e = b:estimate()
  if not e then return "" end
  return ("about %s left (%s to %s)"):format(minutes(e.mean), minutes(e.lo), minutes(e.hi))
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
  for name, default in pairs { limit = 0, jobs = 1, ahead = 1 } do
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

local function perform(parsed, given, n, all, proposes)
  local function say(text) if not parsed.quiet then io.stderr:write(text, "\n") end end
  local list, message, name = tasks_of(parsed, given)
  if not list then return fail(message, name) end
  local devices
  devices, message, name = devices_of(parsed.device, all, proposes, say)
  if not devices then return fail(message, name) end
  local limit = n.limit > 0 and n.limit or all.seconds + 2 * all.deadlines.start + all.deadlines.task
  local b
  b, message, name = bench.new { strategy = parsed.words[1], tasks = list, out = parsed.out, devices = devices,
    words = words_of(parsed), configs = parsed.configs, limit = limit, jobs = math.max(1, n.jobs), ahead = n.ahead,
    retry = given.retry, suite_path = parsed.words[2], shard = given.shard,
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
  if not ended then return fail(message, name) end
  local text, done, counts = summary(b, list)
  if parsed.json then print(core.json.encode { suite = b.suite, tasks = #list, done = done, counts = counts,
    ended = ended })
  elseif not parsed.quiet then
    for _, line in ipairs(suite_report.lines(rows.read(b.store, b.suite), "this suite")) do print(line) end
    print(text)
  end
  if ended == "interrupted" then return job.codes.interrupted end
  return done == #list and job.codes.passed or job.codes.failed
end

function M.main(argv)
  local given, rest = command.take(argv, own)
  if not given then return fail(rest, "usage") end
  if given.help or argv[1] == "help" then
    io.write(usage)
    return 0
  end
  local parsed, message = cli.parse(rest)
  if not parsed then return fail(message, "usage") end
  if #parsed.words ~= 2 then
    return fail("a strategy and a suite are needed: cawb bench STRATEGY.lua SUITE [flags]", "usage")
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
