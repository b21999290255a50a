-- duel: a candidate and its rivals on one real device, in turns. Rivals are PyTorch's
-- baselines, by name, or other candidates. In each round everyone is timed twice, in a
-- random order and then in the reverse one (ABBA), so that a drift of clocks or
-- temperature cancels. The round's ratio of medians is one paired observation.

local core = require "cawb.core"
local stats = require "cawb.base.stats"

local M = {}

local large = 1 << 30          -- bytes of inputs of which one set at a time is enough

local function name_of(subject) return type(subject) == "table" and subject.name or subject end

local function living_rivals(state)
  local list = {}
  for _, subject in ipairs(state.how.against) do
    if not state.failed[name_of(subject)] then list[#list + 1] = subject end
  end
  return list
end

-- Everyone in a random order, then in the reverse one. The candidate comes at the ends or
-- in the middle, so that PyTorch's process and the worker take turns as seldom as can be.
local function order(state)
  local list, draw = living_rivals(state), state.task.next_seed
  for i = #list, 2, -1 do
    local j = draw "order" % i + 1
    list[i], list[j] = list[j], list[i]
  end
  table.insert(list, draw "order" % 2 == 0 and 1 or #list + 1, state.candidate)
  for i = #list, 1, -1 do list[#list + 1] = list[i] end
  return list
end

local function note_kind(state, kind, about)
  if about.failed then
    state.failed[kind] = about.failed
    state.task.baselines[kind] = { failed = about.failed }
  end
  state.about[kind] = about
end

-- Batches of PyTorch's, one for each of `kinds`, in one request.
local function host_batches(state, kinds, samples, take)
  local reply, message, name = state.task:ask { op = "baselines", order = kinds,
    samples = samples, budget = state.how.budget, seed = state.pool[1] }
  if not reply then return nil, message, name end
  for kind, about in pairs(reply.kinds) do note_kind(state, kind, about) end
  for _, batch in ipairs(reply.batches) do
    if not state.failed[batch.kind] then take(batch.kind, batch.samples) end
  end
  return { ok = true }
end

-- A batch of a candidate's: `subject` is the one in question, or a rival.
local function candidate_batch(state, subject, samples, take, first)
  local how = state.how
  state.next = state.next % #state.pool + 1
  local ran, message, name = state.sample(state.task, subject, { samples = samples,
    warmup = first and how.warmup or 1, budget = how.budget, seed = state.pool[state.next],
    slowest = how.slowest, launches = first and how.launches })
  if not ran then return nil, message, name end
  if not ran.ok and subject ~= state.candidate then
    state.failed[subject.name] = ran.reason
    state.task.baselines[subject.name] = { failed = ran.reason }
    return { ok = true }
  end
  if not ran.ok then return ran end
  state.throttled = state.throttled + (ran.throttled or 0)
  if subject == state.candidate then
    state.clocks = ran.clocks or state.clocks
    state.launch_bound = first and ran.launch_bound or state.launch_bound
  end
  take(subject == state.candidate and 0 or subject.name, ran.samples)
  return { ok = true }
end

-- Everyone in `list`; baselines that follow one another are one request, the candidate
-- next to itself is one batch of twice the size. `take(who, samples)` gets the batches;
-- who is 0 for the candidate. Returns { ok = true }, a failure as data, or nil, message,
-- name.
local function play(state, list, samples, take, first)
  local i = 1
  while i <= #list do
    local kinds = {}
    while type(list[i]) == "string" do
      kinds[#kinds + 1] = list[i]
      i = i + 1
    end
    local played, message, name = { ok = true }, nil, nil
    if #kinds > 0 then
      played, message, name = host_batches(state, kinds, samples, take)
    else
      local twice = list[i] == list[i + 1]
      played, message, name = candidate_batch(state, list[i], twice and 2 * samples or samples, take, first)
      i = i + (twice and 2 or 1)
    end
    if not played or not played.ok then return played, message, name end
  end
  return { ok = true }
end

-- Everyone once, uncounted: what has to be set up is, and how long a batch may be is known.
local function warm_up(state)
  local slowest = 0.0
  local played, message, name = play(state, table.pack(state.candidate, table.unpack(living_rivals(state))), 1, function(_, samples)
    slowest = math.max(slowest, stats.quantile(samples, 0.5))
  end, true)
  if not played or not played.ok then return played, message, name end
  local fits = slowest > 0 and math.floor(state.how.slice / slowest) or state.how.batch
  state.batch = math.max(1, math.min(state.how.batch, fits))
  return { ok = true }
end

local function append(list, values) table.move(values, 1, #values, #list + 1, list) end

local function play_round(state)
  local round = {}
  local played, message, name = play(state, order(state), state.batch,
    function(who, samples)
      round[who], state.samples[who] = round[who] or {}, state.samples[who] or {}
      append(round[who], samples)
      append(state.samples[who], samples)
    end)
  if not played or not played.ok then return played, message, name end
  local mine = stats.quantile(round[0], 0.5)
  for who, samples in pairs(round) do
    if who ~= 0 and not state.failed[who] then
      state.ratios[who] = state.ratios[who] or {}
      table.insert(state.ratios[who], stats.quantile(samples, 0.5) / mine)
    end
  end
  return { ok = true }
end

-- Whether enough is known of a rival, at a look that may err this often. `time` is the
-- candidate's: what the clock cannot tell apart, more rounds will not.
local function settled(ratios, how, error_rate, time)
  local s = stats.paired(ratios, error_rate)
  local precision = math.max(how.precision, how.resolution / time)
  if s.hi - s.lo <= 2 * precision * s.median then return true end
  local verdict = how.decisive and stats.verdict(s, how.same)
  return verdict == "faster" or verdict == "slower"
end

local function decided(state, error_rate)
  local time = stats.quantile(state.samples[0], 0.5)
  for who, ratios in pairs(state.ratios) do
    if not state.failed[who] and not settled(ratios, state.how, error_rate, time) then
      return false
    end
  end
  return true
end

local function conclude_rival(state, who, ratios, error_rate, result)
  local s, samples = stats.paired(ratios, error_rate), state.samples[who]
  s.verdict = stats.verdict(s, state.how.same)
  if s.hi == math.huge then               -- too few rounds for a paired interval: wider,
    local apart = stats.speedup(stats.summary(samples), result.time_s)
    s.lo, s.hi = apart.lo, apart.hi       --   from both times apart, and undecided
  end
  result.speedup[who], result.baseline_samples[who] = s, samples
  local about = state.about[who] or {}
  state.task.baselines[who] = { time_s = stats.summary(samples), samples = samples,
    error = about.error, setup_s = about.setup_s, host_s = about.host_s,
    call_s = about.call_s, modelled = false }
end

local function conclude(state, error_rate)
  local samples = state.samples[0]
  local result = { ok = true, samples = samples, speedup = {}, baseline_samples = {},
                   ratios = state.ratios, time_s = stats.summary(samples),
                   throttled = state.throttled, launch_bound_s = state.launch_bound,
                   clock_hz = state.clocks and #state.clocks > 0 and stats.quantile(state.clocks, 0.5) }
  for who, ratios in pairs(state.ratios) do
    if not state.failed[who] then conclude_rival(state, who, ratios, error_rate, result) end
  end
  return result
end

-- Two secret inputs of this measurement in turn, whose references are made once; of
-- large ones there is room for one.
local function input_pool(task)
  local pool = { task.next_seed "measure" }
  if (task.shares and task.shares.inputs.size or 0) < large then pool[2] = task.next_seed "measure" end
  return pool
end

local function new_state(task, candidate, how, sample)
  local state = { task = task, candidate = candidate, how = how, sample = sample,
                  pool = input_pool(task), next = 0, batch = how.batch, throttled = 0,
                  samples = {}, ratios = {}, failed = {}, about = {} }
  for _, subject in ipairs(how.against) do      -- one that failed once stays failed
    local b = task.baselines[name_of(subject)]
    state.failed[name_of(subject)] = b and b.failed
  end
  return state
end

--- Time `candidate` against how.against. `sample(task, candidate, { samples, warmup,
--- budget, seed, slowest, launches })` times and judges a batch of a candidate. Returns
--- { ok, samples, time_s, speedup, ... }, a failure as data, or nil, message, name; the
--- baselines are left in task.baselines.
function M.fight(task, candidate, how, sample)
  local state = new_state(task, candidate, how, sample)
  local looks = stats.looks(how.rounds, how.error_rate)
  local played, message, name = warm_up(state)
  if not played or not played.ok then return played, message, name end
  local from, look = core.clock.now(), 1
  for round = 1, how.rounds do
    played, message, name = play_round(state)
    if not played or not played.ok then return played, message, name end
    local spent = core.clock.now() - from >= how.budget
    if round == looks[look].at or spent then
      if spent or look == #looks or decided(state, looks[look].error) then break end
      look = look + 1
    end
  end
  return conclude(state, looks[look].error)
end

return M
