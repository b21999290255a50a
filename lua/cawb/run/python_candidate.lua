-- python_candidate: a Python candidate (tier 2: a file with the class ModelNew), as evaluate.lua takes
-- it through its stages. It runs in a jail, in a process that is told nothing but inputs. All
-- of its calls are alike, and every one of them is timed by the task host and judged; PyTorch's
-- own times come from the task's Model in a jail beside it, called in the same way.

local core = require "cawb.core"
local file = require "cawb.base.file"
local host = require "cawb.device.jail_host"
local judge = require "cawb.judge.judge"
local measure = require "cawb.time.measure"
local rounds = require "cawb.time.rounds"
local verify = require "cawb.judge.verify"

local M = {}

local me = "candidate"

-- ---- workers

-- A process that ended, as a clause.
local function death(worker, what, name)
  local how, printed = worker:close(name == "died" and 0.5 or 0)
  local said = printed ~= "" and ("; it last printed: %s"):format((printed:gsub("%s+", " "):sub(-400))) or ""
  return ("%s (%s)%s"):format(what, how, said)
end

-- Open a worker under `name`: it, and what the task host says of it; or a failure as data;
-- or nil, message, name.
local function open(task, options, name, about)
  local worker, message, kind = host.spawn(task, options)
  if not worker then return nil, message, kind end
  about.op, about.name, about.pid = "python_open", name, worker.pid
  about.namespaces, about.deadline = worker.jail == "namespaces", options.deadlines.python
  local reply
  reply, message, kind = task:ask(about, { worker.fd }, 2 * about.deadline)
  if reply and not reply.failed then return worker, reply end
  local why = reply and reply.failed
  if reply and reply.how ~= "load" then why = death(worker, why, reply.how) end
  worker:close()
  if not reply then return nil, message, kind end
  return { failed = why, how = reply.how }
end

-- ---- rivals: PyTorch on the task's own Model, or a file of the user's

local function described(rival)
  if type(rival) == "table" then return { source = rival.python, class = "ModelNew" }, rival.name end
  local path = rival:match "^file:(.*)$"
  if path then
    local text, message = file.read(path)
    return text and { source = text, class = "ModelNew Model" } or { failed = message }, rival
  end
  local kind, tf32 = rival:gsub("_tf32$", "")
  return { task = true, class = "Model", mode = kind, tf32 = tf32 > 0 }, rival
end

-- The rivals that run, by name; those that cannot are baselines that failed.
local function rivals_of(task, options, against)
  task.rivals = task.rivals or {}
  local names = {}
  for _, rival in ipairs(against) do
    local about, name = described(rival)
    local known = task.baselines[name]
    if not task.rivals[name] and not (known and known.failed) then
      local worker, message, kind = about, nil, nil
      if not about.failed then worker, message, kind = open(task, options, name, about) end
      if not worker then return nil, message, kind end
      if worker.failed then task.baselines[name] = { failed = worker.failed, modelled = false }
      else task.rivals[name] = worker end
    end
    if task.rivals[name] then names[#names + 1] = name end
  end
  return names
end

local function drop_rival(task, name, why)
  task.baselines[name] = { failed = why, modelled = false }
  if task.rivals[name] then task.rivals[name]:close() end
  task.rivals[name] = nil
end

-- ---- calls

local words = {
  load = "forward failed: %s",
  timeout = "its process was ended: %s",
  died = "it took its process down: %s",
  protocol = "its process was ended: %s",
}

local Python = { stages = { "python" } }
Python.__index = Python

-- Seconds for each of `order`, and for all: who is called for the first time may compile.
local function deadlines_of(self, order)
  local limits, list, all = self.options.deadlines, {}, 0
  for _, name in ipairs(order) do
    list[name] = self.called[name] and limits.run or limits.python
    self.called[name], all = true, all + 2 * list[name]
  end
  return list, all
end

-- What a round that failed says of the candidate; one in which a rival failed does not count.
local function failure_of(self, failed)
  if failed.who ~= me then
    drop_rival(self.task, failed.who, failed.message)
    return { ok = true, times = {}, compared = {} }
  end
  local why = failed.message
  if failed.how ~= "load" then why = death(self.worker, why, failed.how) end
  return { ok = false, reason = (words[failed.how] or "%s"):format(why), name = failed.how }
end

-- Everyone in `order` once on inputs that nobody has seen, of a kind (nil: the task's own); what
-- those in `judged` wrote is compared. Returns { ok = true, times =, compared = }, a failure as data,
-- or nil, message, name.
local function call(self, order, judged, case, seed)
  local task = self.task
  local deadlines, all = deadlines_of(self, order)
  local reply, message, name = task:ask({ op = "python_round", order = order, poison = task:new_poison(),
    judged = core.json.array(judged), seed = seed or task.next_seed "python", deadlines = deadlines,
    case = case }, nil, all)
  if not reply then return nil, message, name end
  if reply.failed then return failure_of(self, reply.failed) end
  return { ok = true, times = reply.times, compared = reply.compared }
end

-- ---- the stages of evaluate.lua

--- Start the candidate's process, in its jail.
function Python:open(facts)
  local worker, about, name = open(self.task, self.options, me, { source = self.candidate.python, class = "ModelNew" })
  if not worker then return nil, about, name end
  if worker.failed then
    return { ok = false, reason = "ModelNew cannot be made: " .. worker.failed, name = worker.how }
  end
  self.worker, facts.jail = worker, worker.parts
  facts.python = { census = about.census, renamed = about.renamed, skipped = about.skipped }
  return { ok = true }
end

--- No inputs come twice: a call that repeats others could be told from them.
function Python:verify(how)
  return verify.check(self.task, function(case, seed)
    local got, message, name = call(self, { me }, { me }, case, seed)
    if got and got.ok then got.compared = got.compared[me] end
    return got, message, name
  end, self.options, { trials = how.trials or self.options.verify.trials, battery = how.battery, repeats = 0 })
end

-- ---- times: the side of rounds.lua

local Side = {}
Side.__index = Side

-- The errors of the rivals, from a pass in which everyone is judged.
local function note_errors(self, compared)
  for name, c in pairs(compared) do
    local error = {}
    if name ~= me then
      judge.note_error(error, c)
      self.errors[name] = { worst = error.worst, nrms = error.nrms }
    end
  end
end

-- Why what the candidate wrote while it was timed is unacceptable, or nil.
local function wrong(self, compared)
  return compared[me] and judge.judge(compared[me], nil, self.options.tolerance)
end

-- One call of each: all inputs are new ones, so that further calls are further passes.
function Side:play(order, _, take, first)
  local of, names = self.of, {}
  for i, who in ipairs(order) do names[i] = who == rounds.candidate and me or who end
  local timed = of.options.tolerance.timed and { me } or {}
  local got, message, name = call(of, names, first and names or timed)
  if not got or not got.ok then return got, message, name end
  local why = wrong(of, got.compared)
  if why then return { ok = false, reason = why } end
  if first then note_errors(of, got.compared) end
  for i, who in ipairs(order) do
    local seconds = got.times[names[i]]
    if seconds then take(who, { seconds[1] }) end
  end
  return got
end

function Side:alive(who) return self.of.task.rivals[who] ~= nil end

function Side:draw() return self.of.task.next_seed "order" end

function Side:keep(who, times)
  times.error = self.of.errors[who]
  self.of.task.baselines[who] = times
end

function Python:measure(opts)
  local how = measure.how(self.options.measure, opts)
  how.samples, how.batch = how.samples or 30, 1
  local side = setmetatable({ of = self, rivals = self.rivals, passes = 1, warm_ups = math.max(1, how.warmup) }, Side)
  local result, message, name = rounds.measure(side, how)
  if result and not result.ok then result.reason = "while it was timed, " .. result.reason end
  return result, message, name
end

--- Counters see nothing of it.
function Python:count() end

--- End its process; the rivals' stay with the task.
function Python:close()
  if not self.worker then return end
  if self.task.host then self.task:ask { op = "python_close", name = me } end
  self.worker:close()
end

--- A Python candidate on a task, a subject of evaluate.one; the rivals of `how.against` (or of the
--- option measure.against) are started. Or nil, message, name.
function M.new(task, candidate, options, how)
  task.device:drop_worker()                       -- it may hold much of the GPU's memory
  local rivals, message, name = rivals_of(task, options, how.against or options.measure.against)
  if not rivals then return nil, message, name end
  return setmetatable({ task = task, candidate = candidate, options = options, rivals = rivals, errors = {},
                        called = {} }, Python)
end

return M
