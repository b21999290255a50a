-- duel: a kernel and its rivals on one real device, in turns (rounds.lua). Rivals are PyTorch's
-- baselines, by name, which the task host times, or other kernels, which the worker does.

local rounds = require "cawb.judge.time.rounds"
local stats = require "cawb.base.stats"

local M = {}

local large = 1 << 30          -- bytes of inputs of which one set at a time is enough

local Side = {}
Side.__index = Side

local function name_of(subject) return type(subject) == "table" and subject.name or subject end

local function note_kind(side, kind, about)
  if about.failed then
    side.failed[kind] = about.failed
    side.task.baselines[kind] = { failed = about.failed }
  end
  side.about[kind] = about
end

-- A request to the task host about PyTorch's baselines of these kinds.
local function request_of(side, op, kinds, samples)
  return { op = op, order = kinds, samples = samples, budget = samples and side.how.budget, seed = side.pool[1], other = side.pool[2],
           case = side.pool[2] and side.case and side.case() or nil }
end

-- Where several places share a device, torch.compile's seconds are spent beside the others, and not while the device is held to time.
local function set_up(side)
  local kinds = {}
  for _, who in ipairs(side.rivals) do
    if not side.kernels[who] and side:alive(who) then kinds[#kinds + 1] = who end
  end
  if not side.task.device.lane or #kinds == 0 then return true end
  local reply, message, name = side.task:ask(request_of(side, "set_up", kinds))
  if not reply then return nil, message, name end
  for kind, about in pairs(reply.kinds) do
    if about.failed then note_kind(side, kind, about) end
  end
  return true
end

-- Batches of PyTorch's, one for each of `kinds`, in one request.
local function host_batches(side, kinds, samples, take)
  local reply, message, name = side.task:ask(request_of(side, "baselines", kinds, samples))
  if not reply then return nil, message, name end
  for kind, about in pairs(reply.kinds) do note_kind(side, kind, about) end
  for _, batch in ipairs(reply.batches) do
    if not side.failed[batch.kind] then take(batch.kind, batch.samples) end
  end
  return { ok = true }
end

-- What a batch of the candidate in question says besides its samples.
local function note_conditions(side, ran, first)
  side.clocks = ran.clocks or side.clocks
  side.launch_bound = first and ran.launch_bound or side.launch_bound
end

-- A batch of a kernel's: the candidate in question, or a rival.
local function kernel_batch(side, who, samples, take, first)
  local how, mine = side.how, who == rounds.candidate
  local subject = mine and side.candidate or side.kernels[who]
  side.next = side.next % #side.pool + 1
  local ran, message, name = side.sample(side.task, subject, { samples = samples,
    warmup = first and how.warmup or side.between, budget = how.budget, seed = side.pool[side.next],
    case = side.next == #side.pool,
    slowest = how.slowest, launches = first and how.launches })
  if not ran then return nil, message, name end
  if not ran.ok and mine then return ran end
  if not ran.ok then
    note_kind(side, who, { failed = ran.reason })
    return { ok = true }
  end
  side.throttled = side.throttled + (ran.throttled or 0)
  if mine then note_conditions(side, ran, first) end
  take(who, ran.samples)
  return { ok = true }
end

-- Baselines that follow one another are one request, the candidate next to itself is one
-- batch of twice the size.
function Side:play(list, samples, take, first)
  local i = 1
  while i <= #list do
    local kinds = {}
    while type(list[i]) == "string" and not self.kernels[list[i]] do
      kinds[#kinds + 1] = list[i]
      i = i + 1
    end
    local played, message, name = { ok = true }, nil, nil
    if #kinds > 0 then
      played, message, name = host_batches(self, kinds, samples, take)
    else
      local twice = list[i] == list[i + 1]
      played, message, name = kernel_batch(self, list[i], twice and 2 * samples or samples, take, first)
      i = i + (twice and 2 or 1)
    end
    if not played or not played.ok then return played, message, name end
  end
  return { ok = true }
end

function Side:alive(who) return not self.failed[who] end

function Side:draw() return self.task.next_seed "order" end

function Side:keep(who, times)
  local about = self.about[who] or {}
  times.error, times.setup_s, times.host_s, times.call_s = about.error, about.setup_s, about.host_s, about.call_s
  self.task.baselines[who] = times
end

-- Two secret inputs of this measurement in turn, whose references are made once, the last of a kind
-- that the task never announced; of large ones there is room for one, and a candidate alone needs no more.
local function new_pool(task, alone)
  local pool = { task.next_seed "measure" }
  local bytes = task.shares and task.shares.inputs.size or 0
  if not alone and bytes < large then pool[2] = task.next_seed "measure" end
  return pool
end

-- The same two for so many candidates in a row. No call has a memory: scratch and outputs are filled anew before each, and a
-- variable that a candidate leaves changed is told; so those of another candidate are as secret as those of its own last call.
local function input_pool(task, how, alone)
  local kept = task.timed_inputs
  if alone or how.inputs_for <= 1 then return new_pool(task, alone) end
  if not kept or kept.left == 0 then
    kept = { pool = new_pool(task, alone), left = how.inputs_for }
    task.timed_inputs = kept
  end
  kept.left = kept.left - 1
  return kept.pool
end

local function new_side(task, candidate, how, sample, case)
  local alone = #how.against == 0
  local side = setmetatable({ task = task, candidate = candidate, how = how, sample = sample, case = case,
    pool = input_pool(task, how, alone), next = 0, throttled = 0, between = alone and 0 or 1,
    rivals = {}, kernels = {}, failed = {}, about = {}, passes = 2, warm_ups = alone and 0 or 1 }, Side)
  for i, subject in ipairs(how.against) do
    local who = name_of(subject)
    local b = task.baselines[who]
    side.rivals[i], side.failed[who] = who, b and b.failed      -- one that failed once stays failed
    if type(subject) == "table" then side.kernels[who] = subject end
  end
  return side
end

--- Time `candidate` against how.against, or alone. `sample(task, candidate, { samples, warmup,
--- budget, seed, case = of the kind that `case()` names, slowest, launches })` times and judges a batch of a
--- kernel. Returns what
--- rounds.measure does, with throttled =, launch_bound_s = and clock_hz =; the baselines are
--- left in task.baselines.
function M.fight(task, candidate, how, sample, case)
  local side = new_side(task, candidate, how, sample, case)
  local ready, why, kind = set_up(side)
  if not ready then return nil, why, kind end
  local result, message, name = task.device:undisturbed(rounds.measure, side, how)
  if not result or not result.ok then return result, message, name end
  result.throttled, result.launch_bound_s = side.throttled, side.launch_bound
  result.clock_hz = side.clocks and #side.clocks > 0 and stats.quantile(side.clocks, 0.5) or nil
  return result
end

return M
