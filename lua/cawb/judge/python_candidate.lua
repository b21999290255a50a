-- python_candidate: a Python candidate (tier 2: a file with the class ModelNew), as evaluate.lua takes
-- it through its stages. It runs in a jail, in a process that is told nothing but inputs. All
-- of its calls are alike, and every one of them is timed by the task host and judged; PyTorch's
-- own times come from the task's Model in a jail beside it, called in the same way.

local battery = require "cawb.judge.verify.battery"
local core = require "cawb.core"
local file = require "cawb.base.file"
local host = require "cawb.judge.worker.jail_host"
local verdict = require "cawb.judge.verify.tolerance"
local measure = require "cawb.judge.time.measure"
local processes = require "cawb.judge.time.processes"
local rounds = require "cawb.judge.time.rounds"
local verify = require "cawb.judge.verify.verify"

local M = {}

local me, owner = processes.candidate, processes.owner

-- ---- workers

-- A process that ended, as a clause.
local function death(worker, what, name)
  local how, printed = worker:close(name == "died" and 0.5 or 0)
  local said = printed ~= "" and ("; it last printed: %s"):format((printed:gsub("%s+", " "):sub(-400))) or ""
  return ("%s (%s)%s"):format(what, how, said)
end

-- A machine that has no process left ends no run: a candidate, or a baseline, fails with that.
local function no_worker(message, kind)
  if kind ~= "scarce" then return nil, message, kind end
  return { failed = message, how = "scarce" }
end

-- Open a worker under `name`: it, and what the task host says of it; or a failure as data;
-- or nil, message, name.
local function open(task, options, name, about)
  local built, message, kind = host.build(task, options, about.source, about.files)
  if not built then return no_worker(message, kind) end
  if built.failed then return { failed = built.failed, how = built.how } end
  local worker
  worker, message, kind = host.spawn(task, options, built.key)
  if not worker then return no_worker(message, kind) end
  local from = core.clock.now()
  about.op, about.name, about.pid, worker.as = "python_open", name, worker.pid, name
  about.namespaces, about.deadline = worker.jail == "namespaces", options.deadlines.python
  about.group, about.seconds = worker.group, worker.seconds
  local reply
  reply, message, kind = task:ask(about, { worker.fd }, 2 * about.deadline)
  worker.loading = core.clock.now() - from
  if reply and not reply.failed then return worker, reply end
  local why = reply and reply.failed
  if reply and reply.how ~= "load" then why = death(worker, why, reply.how) end
  worker:close()
  if not reply then return nil, message, kind end
  return { failed = why, how = reply.how }
end

-- ---- rivals: PyTorch on the task's own Model, or a file of the user's

local function described(rival)
  if type(rival) == "table" then return { source = rival.python, files = rival.files, class = "ModelNew" }, rival.name end
  local path = rival:match "^file:(.*)$"
  if path then
    local text, message = file.read(path)
    return text and { source = (text:gsub("^\xEF\xBB\xBF", "")), class = "ModelNew Model" } or { failed = message }, rival
  end
  local kind, tf32 = rival:gsub("_tf32$", "")
  return { task = true, class = "Model", mode = kind, tf32 = tf32 > 0 }, rival
end

-- Further processes of what runs under `name`: a list of workers, each with `as`, its own name. None
-- of what took long to load, or is compiled at its first call: how much processes differ is then known
-- from the others.
local function replicate(task, options, worker, name, about, count)
  local list = {}
  local compiled = about.mode and about.mode ~= "eager"
  if compiled or worker.loading > options.measure.process_seconds then return list end
  for i = 2, count or processes.count(task, options.measure) do
    local one, message, kind = open(task, options, ("%s process %d"):format(name, i), about)
    if not one then return nil, message, kind end
    if one.failed then break end
    list[#list + 1] = one
  end
  return list
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
      else
        task.rivals[name] = worker
        worker.more, message, kind = replicate(task, options, worker, name, about)
        if not worker.more then return nil, message, kind end
      end
    end
    if task.rivals[name] then names[#names + 1] = name end
  end
  return names
end

local function drop_rival(task, name, why)
  task.baselines[name] = { failed = why, modelled = false }
  local rival = task.rivals[name]
  for _, worker in ipairs(rival and { rival, table.unpack(rival.more or {}) } or {}) do worker:close() end
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

-- Kernels ran while the candidate stood still. It has ended: if they go on, they are somebody else's, who uses this GPU too.
local function somebody_ran(self, why)
  for _, worker in ipairs(self.worker.more or {}) do worker:close() end
  local reply, message, name = self.task:ask { op = "python_shared" }
  if not reply then return nil, message, name end
  if reply.longest == 0 then return { ok = false, reason = words.protocol:format(why), name = "protocol" } end
  return { ok = false, name = "shared", reason = ("it could not be judged: something else uses this GPU (a short kernel of the "
    .. "judge's took %.0f us with nothing of the candidate's left). Candidates in Python need a GPU of their own"):format(reply.longest * 1e6) }
end

-- What a round that failed says of the candidate; one in which a rival failed does not count.
local function failure_of(self, failed)
  if owner(failed.who) ~= me then
    drop_rival(self.task, owner(failed.who), failed.how == "busy" and "something else used the GPU while it stood still" or failed.message)
    return { ok = true, times = {}, compared = {} }
  end
  local why, worker = failed.message, self.worker
  for _, one in ipairs(self.worker.more or {}) do if one.as == failed.who then worker = one end end
  if failed.how ~= "load" then why = death(worker, why, failed.how) end
  if failed.how == "busy" then return somebody_ran(self, why) end
  return { ok = false, reason = (words[failed.how] or "%s"):format(why), name = failed.how }
end

-- Everyone in `order` once on inputs that nobody has seen, of a kind (nil: the task's own); what
-- those in `judged` wrote is compared. Returns { ok = true, times =, compared = }, a failure as data,
-- or nil, message, name.
local function call(self, order, judged, case, seed)
  local task = self.task
  local deadlines, all = deadlines_of(self, order)
  for _, who in ipairs(order) do if owner(who) == me then self.calls = self.calls + 1 end end
  local reply, message, name = task:ask({ op = "python_round", order = order, poison = task:new_poison(),
    judged = core.json.array(judged), seed = seed or task.next_seed "python", deadlines = deadlines,
    case = case }, nil, all)
  if not reply then return nil, message, name end
  if reply.refused then return nil, reply.refused, "refused" end
  if reply.failed then return failure_of(self, reply.failed) end
  return { ok = true, times = reply.times, compared = reply.compared }
end

-- ---- the stages of evaluate.lua

-- What its process was seen to do so far, for rules; where that cannot be had, nothing.
local function note_work(self)
  local work = { seen = {}, lost = 0, calls = self.calls }
  for _, worker in ipairs { self.worker, table.unpack(self.worker.more or {}) } do
    local seen = self.task:ask { op = "python_work", name = worker.as }
    if not seen then return end
    work.means, work.lost = work.means and #work.means <= #seen.means and work.means or seen.means, work.lost + seen.lost
    for _, one in ipairs(seen.seen) do
      local key = (one.calls and "c " or "l ") .. one.name
      local known = work.seen[key]
      if known then known.count, known.largest = known.count + one.count, math.max(known.largest, one.largest)
      else
        work.seen[key], work.seen[#work.seen + 1] = one, one
      end
    end
  end
  work.seen = core.json.array { table.unpack(work.seen) }
  self.facts.python.work = work
end

--- Start the candidate's process, in its jail.
function Python:open(facts)
  local worker, about, name = open(self.task, self.options, me, (described(self.candidate)))
  if not worker then return nil, about, name end
  if worker.failed then
    return { ok = false, reason = "ModelNew cannot be made: " .. worker.failed, name = worker.how }
  end
  self.facts = facts
  self.worker, facts.jail, facts.jail_lacks = worker, worker.parts, worker.lacks
  facts.python = { census = about.census, renamed = about.renamed, skipped = about.skipped }
  note_work(self)
  return { ok = true }
end

--- No inputs come twice: a call that repeats others could be told from them.
function Python:verify(how)
  local result, message, name = verify.check(self.task, function(case, seed)
    local got, message, name = call(self, { me }, { me }, case, seed)
    if got and got.ok then got.compared = got.compared[me] end
    return got, message, name
  end, self.options, { trials = how.trials or self.options.verify.trials, battery = how.battery, repeats = 0,
    denormals = self.options.verify.denormals and not how.battery })
  note_work(self)
  return result, message, name
end

-- ---- times: the side of rounds.lua

local Side = {}
Side.__index = Side

-- The errors of the rivals, from a pass in which everyone is judged.
local function note_errors(self, compared)
  for name, c in pairs(compared) do
    local error = {}
    if owner(name) == name and name ~= me then
      verdict.note_error(error, c)
      self.errors[name] = { worst = error.worst, nrms = error.nrms }
    end
  end
end

-- Why what the candidate wrote while it was timed is unacceptable, or nil.
local function wrong(self, compared)
  for name, c in pairs(compared) do
    local why = owner(name) == me and verdict.judge(c, nil, self.options.tolerance)
    if why then return why end
  end
end

-- The names of all processes of those in `order`, in an order that nobody can know.
local function everyone(of, order)
  local names = {}
  for _, who in ipairs(order) do
    local first = who == rounds.candidate and of.worker or of.task.rivals[who]
    for _, worker in ipairs(processes.taken(first)) do names[#names + 1] = worker.as end
  end
  for i = #names, 2, -1 do
    local j = of.task.next_seed "order" % i + 1
    names[i], names[j] = names[j], names[i]
  end
  return names
end

-- The kind of inputs of the next pass: each second one is of a kind that the task never announced.
local function next_case(self)
  self.turn = not self.turn
  return not self.turn and battery.timed(self.of.task, self.of.options.verify) or nil
end

-- Whether a pass has to be played again: nothing can be learnt of the task from inputs of this kind.
local function is_unfit(self, case, got, name)
  local compared
  for process, c in pairs(case and got and got.compared or {}) do
    if owner(process) == me then compared = c end
  end
  if name ~= "refused" and not (compared and battery.unsuitable(self.of.task, compared, case)) then return false end
  battery.unsuited(self.of.task, case)
  return true
end

-- One call of each process of each: all inputs are new ones, so that further calls are further passes.
function Side:play(order, _, take, first)
  local of = self.of
  local names, timed = everyone(of, order), {}
  for _, name in ipairs(names) do
    if of.options.tolerance.timed and owner(name) == me then timed[#timed + 1] = name end
  end
  local case = not first and next_case(self) or nil
  local got, message, name = call(of, names, first and names or timed, case)
  if is_unfit(self, case, got, name) then return self:play(order, _, take, first) end
  if not got or not got.ok then return got, message, name end
  local why = wrong(of, got.compared)
  if why then return { ok = false, reason = why } end
  if first then note_errors(of, got.compared) end
  for _, who in ipairs(order) do
    local mine, all = who == rounds.candidate and me or who, {}
    for _, process in ipairs(names) do
      local seconds = owner(process) == mine and got.times[process]
      if seconds then
        all[#all + 1] = seconds[1]
        if not first then
          self.seen[process] = self.seen[process] or {}
          table.insert(self.seen[process], seconds[1])
        end
      end
    end
    if #all > 0 then take(who, all) end
  end
  return got
end

--- Whether enough is known of how processes differ.
function Side:sure(who, how, time) return processes.sure(self.seen, who, how, time) end

function Side:alive(who) return self.of.task.rivals[who] ~= nil end

function Side:draw() return self.of.task.next_seed "order" end

function Side:keep(who, times)
  times.error = self.of.errors[who]
  self.of.task.baselines[who] = times
end

--- For who measures the same often: `count` processes of the candidate and of each rival. Every measure() after it takes
--- `measure.processes` of them, drawn anew.
function Python:crowd(count)
  local function more(worker, name, about)
    local list, message, kind = replicate(self.task, self.options, worker, name, about, count)
    worker.more = list
    return list, message, kind
  end
  local list, message, kind = more(self.worker, me, (described(self.candidate)))
  self.crowded = true
  for _, name in ipairs(list and self.rivals or {}) do
    local rival = self.task.rivals[name]
    for _, worker in ipairs(rival.more) do worker:close() end
    list, message, kind = more(rival, name, (described(name)))
    if not list then break end
  end
  return list and true, message, kind
end

-- Those of a crowd that one measurement takes.
local function draw(self)
  local function number() return self.task.next_seed "order" end
  processes.draw(self.worker, self.options.measure.processes, number)
  for _, name in ipairs(self.rivals) do processes.draw(self.task.rivals[name], self.options.measure.processes, number) end
end

function Python:measure(opts)
  local how, message, name = measure.how(self.options.measure, opts), nil, nil
  how.samples, how.batch = how.samples or 30, 1
  if self.crowded then draw(self)
  elseif #self.rivals > 0 then
    self.worker.more, message, name = replicate(self.task, self.options, self.worker, me, (described(self.candidate)))
    if not self.worker.more then return nil, message, name end
  end
  how.budget = how.budget * #processes.taken(self.worker)
  local side = setmetatable({ of = self, seen = {}, rivals = self.rivals, passes = 1, warm_ups = math.max(1, how.warmup) }, Side)
  local result
  result, message, name = rounds.measure(side, how)
  note_work(self)
  if result and result.ok then
    processes.widen(side.seen, result, how)
    result.processes = side.seen
  end
  if result and not result.ok then result.reason = "while it was timed, " .. result.reason end
  return result, message, name
end

--- Counters see nothing of it.
function Python:count() end

--- End its process; the rivals' stay with the task.
function Python:close()
  if not self.worker then return end
  for _, worker in ipairs { self.worker, table.unpack(self.worker.more or {}) } do
    if self.task.host then self.task:ask { op = "python_close", name = worker.as } end
    worker:close()
  end
end

--- A Python candidate on a task, a subject of evaluate.one; the rivals of `how.against` (or of the
--- option measure.against) are started. Or nil, message, name.
function M.new(task, candidate, options, how)
  task.device:drop_worker()                       -- it may hold much of the GPU's memory
  local rivals, message, name = rivals_of(task, options, how.against or options.measure.against)
  if not rivals then return nil, message, name end
  return setmetatable({ task = task, candidate = candidate, options = options, rivals = rivals, errors = {},
                        called = {}, calls = 0 }, Python)
end

return M
