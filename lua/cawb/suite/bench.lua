-- bench: a strategy over a suite. Every task is a process of its own, so that one that
-- crashes the world is one row; rows are added as tasks end, so that any end of this process
-- loses at most the tasks under way. One measurement at a time on a GPU.

local core = require "cawb.core"
local file = require "cawb.base.file"
local ledger = require "cawb.run.ledger"
local manifest = require "cawb.gpu.manifest"
local rows = require "cawb.suite.rows"
local run = require "cawb.run.run"
local suite = require "cawb.suite.suite"

local M = {}

local Bench = {}
Bench.__index = Bench

local FULL = 4           -- the exit status of a run that found no memory on its device (door/job.lua)

-- How the end of a process that ran a task is told: by its exit status where it had one.
local function ending(child)
  local _, message = child:call({ op = "wait" }, { timeout = 5 })
  message = tostring(message)
  return math.tointeger(tonumber(message:match "ended with status (%d+)")), message
end

-- "cawb: " and what a run said when it could not begin; else how the process ended.
local function last_words(child, message)
  local text = child:output():match "cawb: (.*)$" or message
  return (text:gsub("%s+$", ""))
end

--- The file that one holds while measuring on a device; nil for a simulated one, where any
--- number may run. The number counts within CUDA_VISIBLE_DEVICES.
function M.lock_path(device)
  local index = device:match "^cuda:(%d+)$"
  if not index then return nil end
  local visible, at = os.getenv "CUDA_VISIBLE_DEVICES", 0
  for name in (visible or ""):gmatch "[^,]+" do
    if at == tonumber(index) then index = name end
    at = at + 1
  end
  return ("%s/cawb-gpu-%s.lock"):format(os.getenv "TMPDIR" or "/tmp", (index:gsub("[^%w-]", "_")))
end

-- ---- one task

local function command(self, job)
  local words = { core.program, self.strategy, job.path, "--quiet", "--out", self.out, "--device", job.device,
                  "--run-id", job.run }
  local lock = M.lock_path(job.device)
  if not lock and (self.jobs or 1) > 1 then          -- the cores are spoken for
    words[#words + 1], words[#words + 2] = "--set", "simulate.threads=1"
  end
  for _, word in ipairs(self.words) do words[#words + 1] = word end
  for means, most in pairs(job.may) do
    words[#words + 1], words[#words + 2] = "--set", ("budget.%s=%.10g"):format(means, most)
  end
  if job.overrides then words[#words + 1], words[#words + 2] = "--config", job.overrides end
  if lock then words[#words + 1], words[#words + 2] = "--lock", lock end
  return words
end

-- What the next task may spend, where the suite has totals: its own budget, at most what neither
-- ended tasks spent nor those under way may. Or nil: nothing is left.
local function allowance(self)
  local may = {}
  for means, total in pairs(self.totals) do
    local left = total - self.spent[means]
    for _, job in ipairs(self.running) do left = left - job.may[means] end
    local own = self.budget[means]
    may[means] = own > 0 and math.min(own, left) or left
    if may[means] <= 0 then return nil end
  end
  return may
end

-- Start a task on a device; false where another process has it or has done it.
local function begin(self, task, device, may)
  local lock, message, name = core.fs.lock(("%s/locks/%s"):format(self.out, task.hash), false)
  if not lock then
    if name == "busy" then return false end
    return nil, message, name
  end
  local attempt, last = rows.last(self.store, self.suite, task.key)
  if last and not self:due(last) then
    lock:close()
    return false
  end
  local job = { task = task, device = device, replaces = attempt - 1, lock = lock, run = run.new_id(task.name), may = may,
                started = core.clock.wall(), from = core.clock.now() }
  job.path, job.overrides, name = suite.file(task, self.out .. "/tasks")
  if not job.path then return nil, job.overrides, name end
  job.child, message, name = core.child.new("run", command(self, job))
  if not job.child then return nil, message, name end
  return job
end

-- The row of a process that ended, or was killed for being `late`; and whether its device had no memory for it.
local function outcome(self, job, late)
  local code, message
  if not late then code, message = ending(job.child) end
  local row = rows.of_run(self.store, job.run)
  local words = late and ("it took longer than %.0f s"):format(late) or last_words(job.child, message)
  if row and row.finished then return row, code == FULL end
  row = row or { data = {} }
  if late then row.status, row.reason = "timeout", words
  elseif code == 2 and not row.status then row.status, row.reason = "refused", words
  elseif code == 130 then return nil
  elseif code then row.status, row.reason = "error", words
  else row.status, row.reason = "crashed", words end
  return row, code == FULL
end

-- Others held the memory of its device: it gets its turn when nobody else of this suite is there.
local function put_off(self, job, row)
  self.later[#self.later + 1] = job.task
  self.say(job.task, { status = "put off until it has the device to itself", reason = row.reason }, core.clock.now() - job.from)
end

local function finish(self, job, late)
  local row, full = outcome(self, job, late)
  for means, n in pairs(row and rows.spent { row } or {}) do self.spent[means] = self.spent[means] + n end
  job.child:close()
  local ok, message, name = true, nil, nil
  if row and full and not job.alone then put_off(self, job, row)
  elseif row then
    ok, message, name = rows.add(self.store, { suite = self.suite, task = job.task, replaces = job.replaces,
      status = row.status, reason = row.reason, run = job.run, started = job.started,
      ended = core.clock.wall(), data = row.data })
    local now = core.clock.now()
    self.gaps[#self.gaps + 1], self.ended = now - self.ended, now
    self.say(job.task, row, now - job.from)
  end
  os.remove(ledger.now_path(self.out, job.run))     -- of one that was killed
  job.lock:close()
  return ok, message, name
end

-- ---- all of them

--- Whether a task with this last row is to run (again): its code is another now, or it ended
--- by a mishap and these are to be tried again.
function Bench:due(last)
  for _, task in ipairs(self.tasks) do
    if task.key == last.task and task.hash ~= last.code then return true end
  end
  local mishap = last.status == "crashed" or last.status == "timeout" or last.status == "error"
  return self.retry and mishap and last.started < self.from
end

-- The next task for a device on which `under_way` run, and whether it is to be alone there; nil where there is none.
local function next_task(self, under_way)
  if self.next <= #self.tasks then
    self.next = self.next + 1
    return self.tasks[self.next - 1], false
  elseif under_way == 0 and #self.later > 0 then return table.remove(self.later, 1), true end
end

-- Start what fits on a device: `most` at once.
local function fill_device(self, device, most)
  local under_way, may = 0, allowance(self)
  for _, job in ipairs(self.running) do
    if job.device == device then under_way = under_way + 1 end
  end
  while may and under_way < most do
    local task, alone = next_task(self, under_way)
    if not task then return true end
    local job, message, name = begin(self, task, device, may)
    if job == nil then return nil, message, name end
    if job then
      job.alone, self.running[#self.running + 1] = alone, job
      under_way, may = under_way + 1, allowance(self)
    else
      self.skipped = self.skipped + 1
    end
  end
  return true
end

-- A device has `ahead` processes beyond the one that measures.
local function fill(self)
  for _, device in ipairs(self.devices) do
    local ok, message, name = fill_device(self, device, M.lock_path(device) and 1 + self.ahead or self.jobs)
    if not ok then return nil, message, name end
  end
  return true
end

-- Take the rows of those that ended or are late.
local function reap(self)
  for i = #self.running, 1, -1 do
    local job = self.running[i]
    local most = self.limit * (M.lock_path(job.device) and 1 + self.ahead or 1)
    local late = core.clock.now() - job.from > most and most
    if late or not job.child:alive() then
      table.remove(self.running, i)
      local ok, message, name = finish(self, job, late)
      if not ok then return nil, message, name end
    end
  end
  return true
end

local function stop(self)
  for _, job in ipairs(self.running) do
    job.child:close()
    job.lock:close()
  end
  self.running = {}
end

--- Tasks that are still to do, running ones too.
function Bench:left() return #self.tasks - self.next + 1 + #self.later + #self.running end

--- Seconds until `left` tasks more have ended, where tasks have ended `gaps` seconds after each other:
--- { mean, lo, hi }, or nil before the third. Gaps, not durations: those that run at once wait for
--- each other, and the long ones end last. The interval (95%) is that of a sum of gaps like these.
function M.time_left(gaps, left)
  local n, sum, squares = #gaps, 0.0, 0.0
  if n < 3 or left == 0 then return nil end
  for _, s in ipairs(gaps) do sum, squares = sum + s, squares + s * s end
  local mean = sum / n
  local variance = math.max(0, squares - n * mean * mean) / (n - 1)
  local half = 1.96 * math.sqrt(variance * left + variance / n * left * left)
  return { mean = mean * left, lo = math.max(0, mean * left - half), hi = mean * left + half }
end

--- The task that is under way for the longest time, if any: { task =, run =, from = }.
function Bench:oldest()
  local oldest
  for _, job in ipairs(self.running) do
    if not oldest or job.from < oldest.from then oldest = job end
  end
  return oldest
end

--- That of the rest.
function Bench:estimate() return M.time_left(self.gaps, self:left()) end

--- Run what is left. Returns "finished", "interrupted", or "spent" where a total of the suite is; or nil, message, name when this
--- machine cannot go on.
function Bench:loop()
  local ok, message, name = true, nil, nil
  self.ended = core.clock.now()     -- the last task, so far none
  while ok do
    if core.clock.interrupted() then
      stop(self)
      return "interrupted"
    end
    ok, message, name = fill(self)
    if ok then ok, message, name = reap(self) end
    if ok and self:left() == 0 then return "finished" end
    if ok and #self.running == 0 and not allowance(self) then return "spent" end
    if self.tick then self:tick() end
    if ok then core.clock.sleep(0.05) end
  end
  stop(self)
  return nil, message, name
end

local function hash_file(path)
  local text, message = file.read(path)
  if not text then return nil, message end
  return core.hash.sha256(text)
end

-- What makes two benches the same: the strategy, its options, the kind of device, the library.
local function identity(spec)
  local about = { strategy = spec.strategy, device = spec.devices[1]:match "^cuda" or spec.devices[1],
                  words = core.json.array { table.unpack(spec.words) }, library = manifest.library(),
                  cawb = core.version }
  local message
  about.strategy_hash, message = hash_file(spec.strategy)
  if not about.strategy_hash then return nil, message end
  about.configs = {}
  for _, path in ipairs(spec.configs) do
    about.configs[path], message = hash_file(path)
    if not about.configs[path] then return nil, message end
  end
  local text = core.json.encode(about)
  return core.hash.sha256(text):sub(1, 16), text
end

--- A bench. `spec`: { strategy = path, tasks = of cawb.suite, out = folder, devices = names, words =
--- flags for every run, configs = the files among them, limit = seconds a task may take, jobs =
--- at once on a simulated device, ahead = processes that prepare while another measures, retry, totals = { tokens =, dollars = } of
--- all tasks, budget = the option, suite_path, shard, tick = function(bench), called all the time,
--- say = function(task, row, seconds) }. Returns it, or nil, message, name.
function M.new(spec)
  local store, message, name = core.store.open(spec.out)
  if not store then return nil, message, name end
  local ok
  ok, message, name = core.fs.mkdir(spec.out .. "/locks")
  if not ok then return nil, message, name end
  local id, text = identity(spec)
  if not id then return nil, text, "usage" end
  local self = setmetatable({ store = store, suite = id, running = {}, gaps = {}, next = 1, skipped = 0, later = {},
                              from = core.clock.wall() }, Bench)
  for key, value in pairs(spec) do self[key] = value end
  self.totals, self.spent = spec.totals or {}, rows.spent(rows.read(store, id))
  local keys = core.json.array {}
  for i, task in ipairs(spec.tasks) do keys[i] = task.key end
  ok, message, name = store:begin()
  if ok then
    store:insert("suites", { id = id, json = text })
    store:insert("suite_sessions", { suite = id, started = self.from, json = core.json.encode {
      tasks = keys, suite = spec.suite_path, shard = spec.shard,
        devices = core.json.array { table.unpack(spec.devices) } } })
    ok, message, name = store:commit()
  end
  if not ok then return nil, message, name end
  return self
end

return M
