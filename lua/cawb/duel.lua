-- duel: a candidate and PyTorch's baselines on one real device, in turns. In each
-- round everyone is timed twice, in a random order and then in the reverse one
-- (ABBA), so that a drift of clocks or temperature cancels. The round's ratio of
-- medians is one paired observation.

local core = require "cawb.core"
local stats = require "cawb.stats"

local M = {}

-- A batch of a baseline, or what is wrong with it. One that failed once stays failed.
local function baseline_batch(task, kind, how)
  local reply, message, name = task:ask { op = "baselines", kinds = { kind },
    samples = how.batch, budget = how.budget, seed = how.seed }
  if not reply then return nil, message, name end
  local b = reply[kind] or { failed = "the task host did not time it" }
  if b.failed then task.baselines[kind] = { failed = b.failed } end
  return b
end

local function living(task, kinds)
  local list = {}
  for _, kind in ipairs(kinds) do
    if not (task.baselines[kind] and task.baselines[kind].failed) then list[#list + 1] = kind end
  end
  return list
end

-- The subjects in a random order, then in the reverse one.
local function order(task, subjects)
  local list = table.move(subjects, 1, #subjects, 1, {})
  for i = #list, 2, -1 do
    local j = task.next_seed "order" % i + 1
    list[i], list[j] = list[j], list[i]
  end
  for i = #list, 1, -1 do list[#list + 1] = list[i] end
  return list
end

-- One batch of whoever's turn it is: { samples =, error =, ok = }.
local function turn(task, candidate, how, sample, subject, first)
  if subject ~= "candidate" then return baseline_batch(task, subject, how) end
  how.next = how.next % #how.pool + 1
  return sample(task, candidate, { samples = how.batch, warmup = first and how.warmup or 1,
    budget = how.budget, seed = how.pool[how.next] })
end

local function note(state, subject, batch, round)
  local all = state.samples[subject] or {}
  state.samples[subject] = all
  for _, s in ipairs(batch.samples) do
    all[#all + 1] = s
    table.insert(round[subject], s)
  end
  state.errors[subject] = batch.error or state.errors[subject]
end

-- One round. Returns true, a failure as data, or nil, message, name.
local function play(task, candidate, how, sample, state)
  local subjects = living(task, how.against)
  subjects[#subjects + 1] = "candidate"
  local round = {}
  for _, s in ipairs(subjects) do round[s] = {} end
  for _, subject in ipairs(order(task, subjects)) do
    local batch, message, name = turn(task, candidate, how, sample, subject,
      not state.samples.candidate)
    if not batch then return nil, message, name end
    if batch.ok == false then return batch end
    if batch.failed then round[subject] = nil
    elseif round[subject] then note(state, subject, batch, round) end
  end
  local mine = stats.quantile(round.candidate, 0.5)
  for kind, samples in pairs(round) do
    if kind ~= "candidate" then
      state.ratios[kind] = state.ratios[kind] or {}
      table.insert(state.ratios[kind], stats.quantile(samples, 0.5) / mine)
    end
  end
  return { ok = true }
end

local function decided(state, how)
  for _, ratios in pairs(state.ratios) do
    local s = stats.paired(ratios, how.error_rate)
    if not (s.hi - s.lo <= 2 * how.precision * s.median) then return false end
  end
  return true
end

local function conclude(task, how, state)
  local result = { ok = true, samples = state.samples.candidate, speedup = {},
                   baseline_samples = {}, ratios = state.ratios,
                   time_s = stats.summary(state.samples.candidate) }
  for kind, ratios in pairs(state.ratios) do
    local s = stats.paired(ratios, how.error_rate)
    s.verdict = stats.verdict(s, how.same)
    if s.hi == math.huge then               -- too few rounds for a paired interval: wider,
      local apart = stats.speedup(stats.summary(state.samples[kind]), result.time_s)
      s.lo, s.hi = apart.lo, apart.hi       --   from both times apart, and undecided
    end
    if not (task.baselines[kind] and task.baselines[kind].failed) then
      result.speedup[kind] = s
      result.baseline_samples[kind] = state.samples[kind]
      task.baselines[kind] = { time_s = stats.summary(state.samples[kind]),
        samples = state.samples[kind], error = state.errors[kind], modelled = false }
    end
  end
  return result
end

--- Time `candidate` against how.against. `sample(task, candidate, { samples, warmup,
--- budget, seed })` times and judges a batch of the candidate. Returns { ok, samples,
--- time_s, speedup }, a failure as data, or nil, message, name; the baselines are
--- left in task.baselines.
function M.fight(task, candidate, how, sample)
  local state = { samples = {}, ratios = {}, errors = {} }
  local from
  how.seed = task.next_seed "baselines"
  -- Two secret inputs of this measurement in turn: their references are made once.
  how.pool, how.next = { task.next_seed "measure", task.next_seed "measure" }, 0
  for round = 1, how.rounds do
    local played, message, name = play(task, candidate, how, sample, state)
    if not played or not played.ok then return played, message, name end
    from = from or core.clock.now()         -- the first round also sets the baselines up
    if core.clock.now() - from >= how.budget then break end
    if round > 1 and decided(state, how) then break end
  end
  return conclude(task, how, state)
end

return M
