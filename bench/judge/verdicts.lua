-- cawb bench/judge/verdicts.lua -- [DEVICE] [N] [ROWS --tier 2] [--same yes] [--journal FILE]: how often a verdict is wrong.
-- cawb bench/judge/verdicts.lua -- --table FILE...
--   On a GPU N times a kernel is measured against itself, where "faster" and "slower" are both
-- wrong, and N times against one that takes 2% longer, which should be called so. Two kernels spend
-- their time on a chain of multiply-adds (2% more of them take 2% longer), one on memory.
--   On a simulated device (sim:h100) times are modelled: there a kernel against itself must be
-- exactly as fast.
--   With --tier 2 a Python candidate that is the task's own Model under another name is measured against eager PyTorch, on a
-- processor (cpu) too: a softmax of ROWS, or, where ROWS is `long`, a recurrent layer, whose call is long beside the exchange with
-- its process. --crowd (12) processes of each are started, and every measurement takes some of them, drawn anew. --budget is that
-- of `measure`; --raw yes keeps all times.
--   It measures between --from and --until (seconds as `date +%s` has them), or in some --windows, KIND:FROM:UNTIL with commas
-- between them: N times in each. --taken SECONDS only prints how many percent of its processors' time others take.
--   --same yes leaves out the kernels that take 2% longer. FILE gets a line for each measurement, so that a run that was
-- ended is not lost; --table counts what several files hold, by what was measured and by a file's name up to its first
-- figure or full stop, which says on what kind of machine it was.
-- Prints one JSON object last.

local core = require "cawb.core"
local cawb = require "cawb"
local display = require "cawb.base.display"
local loop = require "cawb.base.loop"
local options = require "cawb.base.options"
local python_candidate = require "cawb.judge.python_candidate"
local stats = require "cawb.base.stats"

local words, flags = {}, { tier = "1" }
do
  local given, i = { ... }, 1
  while given[i] do
    local flag = given[i]:match "^%-%-(%l+)$"
    if flag == "table" then flags.table, i = true, i + 1
    elseif flag then flags[flag], i = given[i + 1], i + 2
    else words[#words + 1], i = given[i], i + 1 end
  end
end
local tier = tonumber(flags.tier)

-- What several files hold: for each of what was measured, on which kind of machine, how often each verdict.
local function print_table()
  local by, order, on = {}, {}, {}
  local function middle(form, list, scale) return #list > 0 and form:format(scale * stats.quantile(list, 0.5)) or "" end
  for _, path in ipairs(words) do
    local kind = path:match "([^/]*)$":match "^[^%d.]*"
    for line in assert(io.open(path)):lines() do
      local row = core.json.decode(line)
      local key = row and ("%s, %s"):format(row.kind or kind, row.what)
      if key and not by[key] then by[key], order[#order + 1] = { n = 0, ratios = {} }, key end
      if key then
        local t = by[key]
        t.n, t[row.verdict], t.ratios[t.n + 1] = t.n + 1, (t[row.verdict] or 0) + 1, row.ratio
        t.busy, t.wide, t.took = t.busy or {}, t.wide or {}, t.took or {}
        table.insert(t.busy, row.busy)
        table.insert(t.took, row.took)
        if row.on and not on[row.on] then on[row.on], on[#on + 1] = true, row.on end
        table.insert(t.wide, row.hi and (row.hi - row.lo) / 2 or row.lo and math.huge or nil)
      end
    end
  end
  table.sort(order)
  local lines = {}
  for i, key in ipairs(order) do
    local t = by[key]
    local r = stats.summary(t.ratios)
    lines[i] = { key, tostring(t.n), tostring(t.faster or 0), tostring(t.slower or 0), tostring(t.same or 0), tostring(t.undecided or 0),
                 ("%.4f [%.4f, %.4f]"):format(r.median, r.lo, r.hi), middle("%.2f%%", t.wide, 100), middle("%.0f%%", t.busy, 100),
                 middle("%.2f s", t.took, 1) }
  end
  for _, line in ipairs(display.table({ "", "measured", "faster", "slower", "same", "undecided", "ratio [95% interval]", "half of interval",
                                        "processors busy", "took" }, lines)) do
    print(line)
  end
  for _, line in ipairs(on) do print(line) end
end
if flags.table then
  print_table()
  return 0
end

-- When it measures, in the clock's seconds, on what kind of machine.
local windows = {}
for kind, from, to in (flags.windows or ("-:%s:%s"):format(flags.from or 0, flags["until"] or 1 << 40)):gmatch "([^:,]+):(%d+):(%d+)" do
  windows[#windows + 1] = { kind = kind ~= "-" and kind or nil, from = tonumber(from), to = tonumber(to) }
end
local window = windows[1]

local journal = flags.journal and assert(io.open(flags.journal, "a"))
local name, count = words[1] or flags.taken and "sim:h100" or "cuda:0", tonumber(words[2] or 200)
local root = arg[0]:match "^(.*)/" or "."
local device <close> = assert(cawb.device(name))

local function candidate(folder, length)
  local c = assert(cawb.candidate(root .. "/" .. folder))
  return cawb.candidate { source = c.source, plan = c.plan, name = ("%s %s"):format(folder, length or ""),
                          defines = length and { LENGTH = length } or nil }
end

local function open(n)
  return assert(cawb.task(root .. "/chain/task.py", { device = device, task = n and { n = n } or nil }))
end

-- The length of chain that takes about `seconds`.
local function length_for(task, seconds)
  local probe = 20000
  local t = assert(cawb.measure(task, candidate("chain", probe), { against = {}, samples = 20 }))
  return math.floor(probe * seconds / t.time_s.median)
end

-- The processors that this process may use, and which share of their time was taken since it was asked last.
local function processors()
  local set, list = {}, assert(io.open "/proc/self/status"):read "a":match "Cpus_allowed_list:%s*(%S+)"
  for from, to in list:gmatch "(%d+)%-?(%d*)" do
    for i = tonumber(from), tonumber(to) or tonumber(from) do set[i] = true end
  end
  return set
end
local mine, seen = processors(), nil
local function ticks()
  local taken, all = 0, 0
  for number, line in assert(io.open "/proc/stat"):read "a":gmatch "cpu(%d+)([^\n]*)" do
    local i = 0
    for word in mine[tonumber(number)] and line:gmatch "%d+" or function() end do
      i = i + 1
      if i <= 8 then all = all + tonumber(word) end
      if i <= 8 and i ~= 4 and i ~= 5 then taken = taken + tonumber(word) end
    end
  end
  return { taken, all }
end
local function busy_since()
  local now, before = ticks(), seen
  seen = now
  return before and now[2] > before[2] and (now[1] - before[1]) / (now[2] - before[2]) or nil
end
busy_since()
if flags.taken then
  assert(loop.sleep(tonumber(flags.taken)))
  print(("%.0f"):format(100 * (busy_since() or 0)))
  return 0
end

-- How busy the machine was: the least and the most of its load averages over a minute.
local load_least, load_most = math.huge, 0.0
local function note_load()
  local load = tonumber((assert(io.open "/proc/loadavg"):read "a"):match "^%S+")
  load_least, load_most = math.min(load_least, load), math.max(load_most, load)
  return load
end

local function keep(what, verdict, ratio, more)
  local row = { what = what, verdict = verdict, ratio = ratio, load = note_load(), busy = busy_since() }
  for key, value in pairs(more or {}) do row[key] = value end
  row.kind, row.on = window.kind, ("%s, cawb %s, %s"):format(device.info.model or name, cawb.version, os.date "!%Y-%m-%d")
  if not journal then return end
  journal:write(core.json.encode(row), "\n")
  journal:flush()
end

-- A window called idle opens when others take less than a fifth of its processors' time: it is waited for so many seconds at most.
local patience = 10
local function opened(one)
  while os.time() < one.from do assert(loop.sleep(0.1)) end
  for _ = 1, one.kind == "idle" and patience or 0 do
    busy_since()
    assert(loop.sleep(1))
    if (busy_since() or 0) < 0.2 then break end
  end
  busy_since()
end

-- Call f() `count` times in each window, as far as there is time.
local function repeated(f)
  for _, one in ipairs(windows) do
    window = one
    opened(one)
    for _ = 1, count do
      if os.time() >= window.to then break end
      f()
    end
  end
end

-- `count` measurements: how often each verdict, the pooled ratio, and what they took.
local function trials(what, task, subject, rival)
  local calls, ratios, took = {}, {}, {}
  rival = setmetatable({ name = "rival" }, { __index = rival })
  repeated(function()
    local from = core.clock.now()
    local m = assert(cawb.measure(task, subject, { against = { rival } }))
    assert(m.ok, m.reason)
    local s = m.speedup.rival
    calls[s.verdict] = (calls[s.verdict] or 0) + 1
    ratios[#ratios + 1], took[#took + 1] = s.median, core.clock.now() - from
    keep(what, s.verdict, s.median, { lo = s.lo, hi = s.hi, rounds = s.rounds, took = took[#took] })
  end)
  return { verdicts = calls, ratio = stats.summary(ratios), took = stats.summary(took) }
end

local rows, data = {}, { device = device.info, count = count, version = cawb.version,
  when = os.date "!%Y-%m-%d", results = {} }

local function add(what, time, result)
  if not result.ratio then return io.stderr:write(what, ": there was no time for a measurement\n") end
  local v = result.verdicts
  rows[#rows + 1] = { what, display.time(time), tostring(v.faster or 0), tostring(v.slower or 0),
    tostring(v.same or 0), tostring(v.undecided or 0),
    ("%.4f [%.4f, %.4f]"):format(result.ratio.median, result.ratio.lo, result.ratio.hi),
    display.time(result.took.median) }
  io.stderr:write(table.concat(rows[#rows], "  "), "\n")
  result.what, result.time_s = what, time
  data.results[#data.results + 1] = result
end


local function time_of(task, c)
  return assert(cawb.measure(task, c, { against = {}, samples = 50 })).time_s.median
end

-- What is measured in Python: softmax of so many rows, or a recurrent layer.
local function work_of(rows)
  if rows == "long" then return root .. "/long/task.py", {}, "a recurrent layer in Python on " end
  return root .. "/../../examples/softmax.py", { rows = rows, cols = 1024 }, ("softmax of %d x 1024 in Python on "):format(rows)
end

-- The task's own Model as a Python candidate and eager PyTorch, `crowd` processes of each on one task; `count` times some
-- of them, drawn anew, are measured against each other.
local function again(rows, crowd)
  local all = options.copy(cawb.defaults)
  local path, constants, what = work_of(rows)
  what = what .. (device.info.name == "cpu" and "a processor" or "a GPU")
  all.task, all.rules = constants, "off"
  local source = assert(io.open(path)):read "a":gsub("class Model%(", "class ModelNew(")
  local task <close> = assert(cawb.task(path, { device = device, options = all }))
  local subject = assert(python_candidate.new(task, cawb.candidate { python = source }, all, { against = { "eager" } }))
  assert(assert(subject:open {}).ok)
  assert(assert(subject:verify { trials = 1, battery = {} }).ok)
  assert(subject:crowd(crowd))
  io.stderr:write(("%d processes each are ready\n"):format(crowd))
  local calls, ratios, took, time = {}, {}, {}, 0.0
  repeated(function()
    local from = core.clock.now()
    local m = assert(subject:measure { budget = tonumber(flags.budget) })
    assert(m.ok, m.reason)
    local s = m.speedup.eager
    calls[s.verdict] = (calls[s.verdict] or 0) + 1
    ratios[#ratios + 1], took[#took + 1], time = s.median, core.clock.now() - from, m.time_s.median
    keep(what, s.verdict, s.median,
      { lo = s.lo, hi = s.hi, rounds = s.rounds, time = time, took = took[#took], processes = flags.raw and m.processes })
    io.stderr:write(("%s %.4f [%.4f, %.4f] in %d rounds, %d of %d processes each\n"):format(s.verdict, s.median, s.lo, s.hi or math.huge,
      s.rounds, s.processes, crowd))
  end)
  subject:close()
  return time, { verdicts = calls, ratio = stats.summary(ratios), took = stats.summary(took) }
end

-- A kernel beside itself, where times are modelled.
local function modelled()
  local task <close> = open(1 << 16)
  local one, calls, ratios, took = candidate "double", {}, {}, {}
  for _ = 1, count do
    local from = core.clock.now()
    local m = assert(cawb.measure(task, one, { against = { setmetatable({ name = "rival" }, { __index = one }) } }))
    assert(m.ok, m.reason)
    local s = m.speedup.rival
    local verdict = s.lo > 1 and "faster" or s.hi < 1 and "slower" or "same"
    calls[verdict] = (calls[verdict] or 0) + 1
    ratios[#ratios + 1], took[#took + 1] = s.median, core.clock.now() - from
    keep("a kernel against itself, modelled", verdict, s.median)
  end
  return time_of(task, one), { verdicts = calls, ratio = stats.summary(ratios), took = stats.summary(took) }
end

if tier == 2 then
  local rows = tonumber(words[3]) or words[3]
  for _, rows in ipairs(rows and { rows } or device.info.name == "cpu" and { 256, 2048 } or { 1024, 65536 }) do
    local time, result = again(rows, tonumber(flags.crowd or 12))
    add(("%s in Python against eager"):format(rows == "long" and "a recurrent layer" or ("softmax of %d x 1024"):format(rows)), time, result)
  end
elseif device.info.modelled then
  add("copy and double against itself", modelled())
end
local function against_itself(what, task, one)
  add(what .. " against itself", time_of(task, one), trials(what .. " against itself", task, one, one))
end
if tier == 1 and not device.info.modelled then
  local task <close> = open()
  for _, seconds in ipairs { 20e-6, 4e-3 } do
    local length = length_for(task, seconds)
    local one, longer = candidate("chain", length), candidate("chain", math.floor(length * 1.02 + 0.5))
    against_itself(("chain of %.3g us"):format(seconds * 1e6), task, one)
    if flags.same ~= "yes" then
      local what = ("chain of %.3g us, 2%% longer, against it"):format(seconds * 1e6)
      add(what, time_of(task, one), trials(what, task, longer, one))
    end
  end
end
if tier == 1 and not device.info.modelled then
  local task <close> = open(5 << 20)             -- 20 MiB each way: about 20 us
  against_itself("copy and double", task, candidate "double")
end

data.load = { least = load_least < math.huge and load_least or nil, most = load_most }
print(("%s, driver %s, cawb %s, %s: %d measurements each, load %.1f to %.1f"):format(device.info.model or name,
  device.info.driver or "none", data.version, data.when, count, load_least < math.huge and load_least or 0, load_most))
for _, line in ipairs(display.table({ "", "time", "faster", "slower", "same", "undecided",
  "ratio [95% interval]", "took" }, rows)) do print(line) end
print(core.json.encode(data))
