-- python_candidate: a Python candidate (tier 2: a file with the class ModelNew) from its text to
-- facts. It runs in a jail, in a process that is told nothing but inputs. All of its calls
-- are alike, and every one of them is timed by the task host and judged; PyTorch's own
-- times come from the task's Model in a jail beside it, called in the same way.

local baselines = require "cawb.time.baselines"
local battery = require "cawb.judge.battery"
local core = require "cawb.core"
local file = require "cawb.base.file"
local host = require "cawb.device.jail_host"
local kinds = require "cawb.device.kinds"
local judge = require "cawb.judge.judge"
local precision = require "cawb.judge.precision"
local rounds = require "cawb.time.rounds"
local rules = require "cawb.judge.rules"

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
local function open(task, name, about)
  local worker, message, kind = host.spawn(task)
  if not worker then return nil, message, kind end
  about.op, about.name, about.pid = "python_open", name, worker.pid
  about.namespaces, about.deadline = worker.jail == "namespaces", task.options.deadlines.python
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
local function rivals_of(task, against)
  task.rivals = task.rivals or {}
  local names = {}
  for _, rival in ipairs(against) do
    local about, name = described(rival)
    local known = task.baselines[name]
    if not task.rivals[name] and not (known and known.failed) then
      local worker, message, kind = about, nil, nil
      if not about.failed then worker, message, kind = open(task, name, about) end
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

-- ---- rounds

local words = {
  load = "forward failed: %s",
  timeout = "its process was ended: %s",
  died = "it took its process down: %s",
  protocol = "its process was ended: %s",
}

-- Everyone in `order` once on inputs that nobody has seen; what those in `judged` wrote is
-- judged. Who is called for the first time may compile. `step` is one of battery.steps, for
-- other inputs than the task's own. Returns { ok = true, times =, compared = }, a failure as data, or nil,
-- message, name.
local function round(state, order, judged, step)
  local task, limits, deadlines, all = state.task, state.task.options.deadlines, {}, 0
  for _, name in ipairs(order) do
    deadlines[name] = state.called[name] and limits.run or limits.python
    state.called[name], all = true, all + 2 * deadlines[name]
  end
  local poison = task:new_poison()
  local reply, message, name = task:ask({ op = "python_round", order = order, poison = poison,
    judged = core.json.array(judged), seed = step and step.seed or task.next_seed "python", deadlines = deadlines,
    case = step and step.case }, nil, all)
  if not reply then return nil, message, name end
  local failed = reply.failed
  if failed and failed.who ~= me then
    drop_rival(task, failed.who, failed.message)
    return { ok = true, times = {}, compared = {} }       -- a round that does not count
  elseif failed then
    local why = failed.message
    if failed.how ~= "load" then why = death(state.worker, why, failed.how) end
    return { ok = false, reason = (words[failed.how] or "%s"):format(why), name = failed.how }
  end
  local compared = reply.compared[me]
  local wrong
  if compared and step then
    wrong = battery.weigh(task, compared, nil, step.case, state.battery)
  elseif compared then
    judge.note_error(state.error, compared)
    wrong = judge.judge(compared, nil, task.options.tolerance)
  end
  if wrong then return { ok = false, reason = wrong } end
  return { ok = true, times = reply.times, compared = reply.compared }
end

local function verified(state, trials, how)
  for _ = 1, trials do
    local got, message, name = round(state, { me }, { me })
    if not got or not got.ok then return got, message, name end
    local c = got.compared[me]
    state.trials[#state.trials + 1] = { outputs = c.slots[1], reference = c.reference }
  end
  local steps, why, kind = battery.steps(state.task, how, state.battery)
  if not steps then return nil, why, kind end
  for _, step in ipairs(steps) do
    local got, message, name = round(state, { me }, { me }, step)
    if not got or not got.ok then return got, message, name end
  end
  return { ok = true }
end

-- ---- times: the side of rounds.lua

local Side = {}
Side.__index = Side

-- The errors of the rivals, from a pass in which everyone is judged.
local function note_errors(state, compared)
  for name, c in pairs(compared) do
    local error = {}
    if name ~= me then
      judge.note_error(error, c)
      state.errors[name] = { worst = error.worst, nrms = error.nrms }
    end
  end
end

-- One call of each: all inputs are new ones, so that further calls are further passes.
function Side:play(order, _, take, first)
  local state, names = self.state, {}
  for i, who in ipairs(order) do names[i] = who == rounds.candidate and me or who end
  local got, message, name = round(state, names, first and names or state.timed)
  if not got or not got.ok then return got, message, name end
  if first then note_errors(state, got.compared) end
  for i, who in ipairs(order) do
    local seconds = got.times[names[i]]
    if seconds then take(who, { seconds[1] }) end
  end
  return got
end

function Side:alive(who) return self.state.task.rivals[who] ~= nil end

function Side:draw() return self.state.task.next_seed "order" end

function Side:keep(who, times)
  times.error = self.state.errors[who]
  self.state.task.baselines[who] = times
end

local function measured(state, how)
  how.batch = 1
  return rounds.measure(setmetatable({ state = state, rivals = state.rivals, passes = 1,
    warm_ups = math.max(1, how.warmup) }, Side), how)
end

-- ---- facts

local function conclude(state, facts, got)
  facts.samples, facts.time_s, facts.speedup = got.samples, got.time_s, got.speedup
  facts.baseline_samples, facts.ratios = got.baseline_samples, got.ratios
  facts.equal_error = baselines.at_equal_error(state.task, facts.speedup, facts.error)
  facts.baselines = state.task.baselines
end

local function fail(facts, stage, result)
  facts.ok, facts.stage, facts.reason, facts.name = false, stage, result.reason, result.name
  return facts
end

local function clocked(facts, key, f, ...)
  local from = core.clock.now()
  local result, message, name = f(...)
  facts.seconds[key] = (facts.seconds[key] or 0) + core.clock.now() - from
  return result, message, name
end

local function how_of(task, how)
  local all = {}
  for key, value in pairs(task.options.measure) do all[key] = value end
  for key, value in pairs(how) do all[key] = value end
  all.samples = all.samples or 30
  return all
end

-- Ask the rules of some stages: true, false where they reject, or nil, message, name.
local function pass(state, facts, ...)
  local done, message, name = clocked(facts, "rules", rules.apply, state.task, state.candidate, facts, { ... })
  if not done then return nil, message, name end
  return facts.ok
end

local function stages(state, facts, how)
  how.say "verify"
  local got, message, name = clocked(facts, "verify", verified, state, how.trials or state.task.options.verify.trials, how)
  facts.error, facts.trials, facts.battery = state.error, state.trials, state.battery
  facts.products = state.task.products
  if not got then return nil, message, name end
  if not got.ok then return fail(facts, "verify", got) end
  facts.precision = precision.of(state.task, facts)
  got, message, name = pass(state, facts, "verify")
  if not got then return got == false and facts or nil, message, name end
  how.say "measure"
  got, message, name = clocked(facts, "measure", measured, state, how)
  if not got then return nil, message, name end
  if not got.ok then
    got.reason = "while it was timed, " .. got.reason
    return fail(facts, "measure", got)
  end
  conclude(state, facts, got)
  got, message, name = pass(state, facts, "timing", "plausibility")
  if got == nil then return nil, message, name end
  return facts
end

local function new_facts()
  return { ok = true, tier = 2, modelled = false, variants = {}, label = "",
           seconds = { compile = 0.0, verify = 0.0, measure = 0.0 } }
end

--- Evaluate a Python candidate: facts as evaluate.one's, with tier = 2, jail = what confined
--- it, python = { census =, renamed =, skipped = }; or nil, message, name.
function M.evaluate(task, candidate, how)
  local facts = new_facts()
  local no, unsupported = kinds.refusal(task.device, "python")
  if no then return nil, no, unsupported end
  how = how_of(task, how)
  how.say = how.say or function() end
  how.say "compile"
  task.device:drop_worker()                       -- it may hold much of the GPU's memory
  local rivals, message, name = rivals_of(task, how.against)
  if not rivals then return nil, message, name end
  local worker, about
  worker, about, name = clocked(facts, "compile", open, task, me, { source = candidate.python, class = "ModelNew" })
  if not worker then return nil, about, name end
  if worker.failed then
    return fail(facts, "compile", { reason = "ModelNew cannot be made: " .. worker.failed, name = worker.how })
  end
  facts.jail = worker.parts
  facts.python = { census = about.census, renamed = about.renamed, skipped = about.skipped }
  local state = { task = task, candidate = candidate, worker = worker, rivals = rivals, errors = {}, called = {}, error = { eager = {} }, battery = {}, trials = {},
                  timed = task.options.tolerance.timed and { me } or {} }
  local done
  done, message, name = pass(state, facts, "python")
  if done then done, message, name = stages(state, facts, how) elseif done == false then done = facts end
  if task.host then task:ask { op = "python_close", name = me } end
  worker:close()
  if done and done.ok and facts.error then facts.error = state.error end
  return done, message, name
end

return M
