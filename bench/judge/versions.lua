-- cawb bench/judge/versions.lua -- [DEVICE] [N] [SECONDS]: how often `cawb compare` errs. N times a kernel is compared with itself, where
-- "slower" is a false alarm, and N times with one that takes 2% longer, which has to be called slower. A kernel that spends its time on a
-- chain of multiply-adds, of 22 and of 200 us, and one that spends it on memory. SECONDS is the longest that all of it may take.
-- Prints a table, both rates with 95% intervals, and one JSON object last.

local core = require "cawb.core"
local cawb = require "cawb"
local contest = require "cawb.door.contest"
local display = require "cawb.base.display"
local options = require "cawb.base.options"
local report = require "cawb.suite.report"

local name, count, seconds = ..., select(2, ...)
name, count, seconds = name or "cuda:0", tonumber(count or 200), tonumber(seconds or 110)
local root, ends = arg[0]:match "^(.*)/" or ".", core.clock.now() + seconds
local device <close> = assert(cawb.device(name))
local all = options.copy(cawb.defaults)
local data = { device = device.info, version = cawb.version, when = os.date "!%Y-%m-%d", results = {} }

local function candidate(folder, length)
  local c = assert(cawb.candidate(root .. "/" .. folder))
  return cawb.candidate { source = c.source, plan = c.plan, name = folder, defines = length and { LENGTH = length } or nil }
end

local function length_for(task, time)
  local probe = 20000
  return math.floor(probe * time / assert(cawb.measure(task, candidate("chain", probe), { against = {}, samples = 20 })).time_s.median)
end

-- Compare `count` times, as far as there is time for `share` of what is left.
local function trials(what, task, a, b, share)
  local row, until_ = { what = what, itself = a == b, n = 0, faster = 0, same = 0, slower = 0, undecided = 0 }, core.clock.now()
  until_ = until_ + (ends - until_) * share
  local first = assert(contest.compare(task, a, b, all, 10))
  assert(first.change, first.reason)
  local took = core.clock.now()
  while row.n < count and core.clock.now() < until_ do
    local r = assert(contest.fight(task, { { member = a, error = {} }, { member = b, error = {} } }, all, 10))
    assert(r.change, r.reason)
    row.n, row[r.verdict] = row.n + 1, row[r.verdict] + 1
    row.time_s = r.facts[2].time_s.median
  end
  row.took = (core.clock.now() - took) / math.max(1, row.n)
  data.results[#data.results + 1] = row
  io.stderr:write(core.json.encode(row), "\n")
end

do
  local task <close> = assert(cawb.task(root .. "/chain/task.py", { device = device }))
  local left = { 0.3, 0.45, 0.4, 0.6 }
  for _, time in ipairs(device.info.modelled and { 22e-6 } or { 22e-6, 200e-6 }) do
    local length = device.info.modelled and 1000 or length_for(task, time)
    local one, longer = candidate("chain", length), candidate("chain", math.floor(length * 1.02 + 0.5))
    local what = ("chain of %.3g us"):format(time * 1e6)
    trials(what .. " against itself", task, one, one, table.remove(left, 1))
    trials(what .. " against one 2% longer", task, one, longer, table.remove(left, 1))
  end
end
do
  local task <close> = assert(cawb.task(root .. "/chain/task.py", { device = device, task = { n = device.info.modelled and 1 << 12 or 5 << 20 } }))
  local double = candidate "double"
  trials("copy and double against itself", task, double, double, 1)
end

local rows = {}
for i, r in ipairs(data.results) do
  rows[i] = { r.what, display.time(r.time_s), tostring(r.n), tostring(r.faster), tostring(r.slower), tostring(r.same), tostring(r.undecided), ("%.2f s"):format(r.took) }
end
for _, line in ipairs(display.table({ ("%s, cawb %s, %s"):format(device.info.model, cawb.version, data.when), "time of B", "compared", "faster", "slower",
                                      "same", "undecided", "each" }, rows)) do print(line) end

-- How many of the comparisons with itself (or not) were called one of `verdicts`.
local function rate(label, itself, verdicts)
  local k, n = 0, 0
  for _, row in ipairs(data.results) do
    if row.itself == itself then
      n = n + row.n
      for _, verdict in ipairs(verdicts) do k = k + row[verdict] end
    end
  end
  local w = n > 0 and report.wilson(k, n)
  print(w and ("%s: %d of %d, %.1f%% [%.1f, %.1f]"):format(label, k, n, 100 * w.rate, 100 * w.lo, 100 * w.hi) or label .. ": not tried")
end
rate("a kernel beside itself, called faster or slower", true, { "faster", "slower" })
rate("one that takes 2% longer, called slower", false, { "slower" })
print(core.json.encode(data))
