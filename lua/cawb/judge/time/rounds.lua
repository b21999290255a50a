-- rounds: the sequential core of measuring, one for every kind of candidate. The candidate and
-- its rivals are timed in rounds, in a random order and then in the reverse one (ABBA), so
-- that a drift of clocks or temperature cancels. A round's ratio of medians is one paired
-- observation. At planned looks it is asked whether enough is known of every rival.
--
-- What differs between kinds of candidates is a `side`:
--   side.rivals                 names of the rivals, in a fixed order
--   side.passes                 2: a round is an order and its reverse; 1: the reverse is the next round
--   side.warm_ups               uncounted passes at the beginning
--   side:alive(who)             whether a rival still takes part
--   side:draw()                 a secret whole number
--   side:play(order, samples, take, first)
--                               times everyone in `order` and calls take(who, seconds), `samples` of
--                               them for each time that it stands there. `first` is true once, at the
--                               very beginning. Returns { ok = true }, a failure as data, or nil, message, name
--   side:keep(who, times)       remember a rival's { time_s, samples, modelled }
--   side:sure(who, how, time)   whether enough is known of what rounds do not say, where there is such a method

local core = require "cawb.core"
local stats = require "cawb.base.stats"

local M = {}

--- What the candidate is called; rivals have names that are strings.
M.candidate = 0

local fewest = 3               -- samples of a candidate that is timed alone

-- ---- orders

local function shuffled(list, draw)
  for i = #list, 2, -1 do
    local j = draw() % i + 1
    list[i], list[j] = list[j], list[i]
  end
  return list
end

-- The rivals that still take part.
local function living(side)
  local list = {}
  for _, who in ipairs(side.rivals) do
    if side:alive(who) then list[#list + 1] = who end
  end
  return list
end

-- Everyone in a random order. The candidate comes first or last, so that two processes take
-- turns as seldom as can be.
local function drawn(side)
  local function draw() return side:draw() end
  local list = shuffled(living(side), draw)
  table.insert(list, draw() % 2 == 0 and 1 or #list + 1, M.candidate)
  return list
end

local function reversed(list)
  local back = {}
  for i = #list, 1, -1 do back[#back + 1] = list[i] end
  return back
end

-- Every second pass is the one before it backwards.
local function next_pass(state)
  local before = state.pass
  state.pass = not before and drawn(state.side) or nil
  return state.pass or reversed(before)
end

local function next_order(state)
  local order = {}
  for _ = 1, state.side.passes do
    local pass = next_pass(state)
    table.move(pass, 1, #pass, #order + 1, order)
  end
  return order
end

-- ---- rounds

local function play(state, order, samples, take)
  local first = not state.begun
  state.begun = true
  return state.side:play(order, samples, take, first)
end

local function append(lists, who, values)
  lists[who] = lists[who] or {}
  table.move(values, 1, #values, #lists[who] + 1, lists[who])
end

-- Uncounted: what has to be set up is, and how long a batch may be is known. The candidate
-- comes first: where it fails, nobody else need be set up.
local function warm_up(state)
  local how, slowest = state.how, 0.0
  for _ = 1, state.side.warm_ups do
    local order = table.pack(M.candidate, table.unpack(living(state.side)))
    local played, message, name = play(state, order, 1, function(_, samples)
      slowest = math.max(slowest, stats.quantile(samples, 0.5))
    end)
    if not played or not played.ok then return played, message, name end
  end
  local fits = slowest > 0 and math.floor(how.slice / slowest) or how.batch
  state.batch = math.max(1, math.min(how.batch, fits))
  return { ok = true }
end

-- One observation of every rival that was timed beside the candidate.
local function note(state, round)
  local mine = round[M.candidate] and stats.quantile(round[M.candidate], 0.5)
  if not mine then return end
  for who, samples in pairs(round) do
    append(state.samples, who, samples)
    if who ~= M.candidate and state.side:alive(who) then
      append(state.ratios, who, { stats.quantile(samples, 0.5) / mine })
    end
  end
end

local function play_round(state)
  local round = {}
  local played, message, name = play(state, next_order(state), state.batch,
    function(who, samples) append(round, who, samples) end)
  if not played or not played.ok then return played, message, name end
  note(state, round)
  return { ok = true }
end

-- ---- when to stop

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
  local mine = state.samples[M.candidate]
  if not mine then return false end
  local time = stats.quantile(mine, 0.5)
  for who, ratios in pairs(state.ratios) do
    local side = state.side
    if side:alive(who) then
      if not settled(ratios, state.how, error_rate, time) then return false end
      if side.sure and not side:sure(who, state.how, time) then return false end
    end
  end
  return true
end

-- Rounds until enough is known, at a look, or the budget is spent. A budget that ends before an
-- interval is possible is overdrawn until it is.
local function compare(state)
  local how, from, look = state.how, core.clock.now(), 1
  local looks = stats.looks(how.rounds, how.error_rate)
  local needed = stats.apart_needs(how.error_rate)
  for round = 1, how.rounds do
    local played, message, name = play_round(state)
    if not played or not played.ok then return played, message, name end
    local spent = core.clock.now() - from >= how.budget and round * state.side.passes >= needed
    if round == looks[look].at or spent then
      if spent or look == #looks or decided(state, looks[look].error) then break end
      look = look + 1
    end
  end
  state.error_rate = looks[look].error
  return { ok = true }
end

-- Without anyone to compare it with: up to how.samples within how.budget seconds.
local function alone(state)
  local how, from = state.how, core.clock.now()
  local mine = {}
  state.samples[M.candidate] = mine
  repeat
    local played, message, name = play(state, { M.candidate }, how.samples - #mine, function(_, samples)
      table.move(samples, 1, #samples, #mine + 1, mine)
    end)
    if not played or not played.ok then return played, message, name end
  until #mine >= how.samples or #mine >= fewest and core.clock.now() - from >= how.budget
  return { ok = true }
end

-- ---- what came of it

-- The interval of a rival's speed-up: from paired rounds; where they are too few, from all that
-- was seen of both, and undecided; where that is too little, none: lo is 0, hi is absent.
local function speedup(state, who, ratios)
  local how = state.how
  local s = stats.paired(ratios, state.error_rate)
  s.verdict = stats.verdict(s, how.same)
  if s.hi < math.huge then return s end
  local passes = #ratios * state.side.passes
  local wide = passes >= stats.apart_needs(how.error_rate)
    and stats.apart(state.samples[who], state.samples[M.candidate])
  s.lo, s.hi = wide and wide.lo or 0.0, wide and wide.hi or nil
  return s
end

local function conclude(state)
  local mine = state.samples[M.candidate]
  if not mine then return nil, "no baseline survived beside the candidate; try again", "io" end
  local result = { ok = true, samples = mine, time_s = stats.summary(mine), speedup = {},
                   baseline_samples = {}, ratios = state.ratios }
  for who, ratios in pairs(state.ratios) do
    if state.side:alive(who) then
      local samples = state.samples[who]
      result.speedup[who], result.baseline_samples[who] = speedup(state, who, ratios), samples
      state.side:keep(who, { time_s = stats.summary(samples), samples = samples, modelled = false })
    end
  end
  return result
end

--- Time a candidate against the rivals of a `side`, or alone where it has none. `how` is the
--- option group `measure`, with `samples`, of a candidate alone. Returns { ok = true, samples =
--- {seconds}, time_s = summary, speedup = { who = { median, lo, hi, rounds, verdict } },
--- baseline_samples =, ratios = by who }, a failure as data, or nil, message, name.
function M.measure(side, how)
  local state = { side = side, how = how, samples = {}, ratios = {} }
  local played, message, name = warm_up(state)
  if not played or not played.ok then return played, message, name end
  played, message, name = (#side.rivals > 0 and compare or alone)(state)
  if not played or not played.ok then return played, message, name end
  return conclude(state)
end

return M
