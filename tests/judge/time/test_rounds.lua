-- The sequential core of measuring, with sides made of numbers, and a Python candidate's times
-- through it without a process.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local display = require "cawb.base.display"
local evaluate = require "cawb.judge.evaluate"
local jail_host = require "cawb.judge.worker.jail_host"
local options = require "cawb.base.options"
local processes = require "cawb.judge.time.processes"
local rounds = require "cawb.judge.time.rounds"
local seeds = require "cawb.base.seeds"
local stats = require "cawb.base.stats"

-- Times between 1 and 1 + width, the same in every run of the test.
local function noise(state, width)
  return function()
    state = state * 6364136223846793005 + 1442695040888963407
    return 1 + width * ((state >> 33) / (1 << 31))
  end
end

-- A side whose contestants take times[who] seconds, and that remembers the orders.
local function side_of(times, clock, changes)
  local side = { rivals = {}, passes = 2, warm_ups = 1, orders = {}, kept = {}, draw = nil }
  local draw = seeds.generator "rounds"
  for who in pairs(times) do
    if who ~= rounds.candidate then side.rivals[#side.rivals + 1] = who end
  end
  table.sort(side.rivals)
  function side:alive() return true end
  function side:draw() return draw "order" end
  function side:keep(who, about) self.kept[who] = about end
  function side:play(order, samples, take, first)
    self.orders[#self.orders + 1] = { order = order, first = first }
    for _, who in ipairs(order) do
      local list = {}
      for i = 1, samples do list[i] = times[who] * clock() end
      take(who, list)
    end
    return { ok = true }
  end
  for key, value in pairs(changes or {}) do side[key] = value end
  return side
end

local function how(changes)
  local h = options.copy(cawb.defaults.measure)
  h.samples = 30
  for key, value in pairs(changes or {}) do h[key] = value end
  return h
end

local function words(order) return table.concat(order, " ") end

check.test("a side of one pass has the reverse of each order in its next round", function()
  local side = side_of({ [0] = 1, eager = 2, compile = 3 }, noise(1, 0.5), { passes = 1, warm_ups = 3 })
  assert(rounds.measure(side, how { rounds = 8, batch = 1, decisive = false, precision = 1e-9 }))
  check.equal(#side.orders, 3 + 8)
  for i, one in ipairs(side.orders) do check.equal(one.first, i == 1) end
  for i = 4, 11, 2 do
    local back = {}
    for k = 3, 1, -1 do back[#back + 1] = side.orders[i].order[k] end
    check.equal(words(side.orders[i + 1].order), words(back))
  end
end)

check.test("one round is no interval: undecided, with lo 0 and no hi, and a reward of 1", function()
  for _, passes in ipairs { 1, 2 } do
    local side = side_of({ [0] = 1, eager = 1.2 }, noise(2, 0), { passes = passes })
    local r = assert(rounds.measure(side, how { rounds = 1 }))
    local s = r.speedup.eager
    check.equal(s.verdict, "undecided")
    check.equal(s.rounds, 1)
    assert(s.lo == 0 and s.hi == nil and math.abs(s.median - 1.2) < 1e-9)
    check.equal(display.speedup(s), "1.20x (too few rounds)")
    local reward = dofile "configs/tiers-paper.lua".reward
    check.equal(reward { ok = true, speedup = r.speedup }, 1)
    check.equal(dofile "configs/reward-log-speedup.lua".reward { ok = true, speedup = r.speedup }, -1)
  end
end)

check.test("a few rounds have the range of all that was seen, and are undecided", function()
  local side = side_of({ [0] = 1, eager = 2 }, noise(3, 0.1), { passes = 2 })
  local s = assert(rounds.measure(side, how { rounds = 3, batch = 1 })).speedup.eager
  check.equal(s.verdict, "undecided")
  assert(s.lo > 1.8 and s.lo < s.median and s.median < s.hi and s.hi < 2.2)
  side = side_of({ [0] = 1, eager = 1 }, noise(3, 0.1), { passes = 2 })
  s = assert(rounds.measure(side, how { rounds = 3, batch = 1 })).speedup.eager
  assert(s.lo < 1 and s.hi > 1)
end)

check.test("how many turns apart are enough", function()
  check.equal(stats.apart_needs(0.01), 5)
  check.equal(stats.apart_needs(0.5), 2)
  local wide = stats.apart({ 4, 3, 5 }, { 2, 1 })
  assert(wide.lo == 1.5 and wide.hi == 5)
end)

check.test("a budget that is spent at once leaves an interval all the same", function()
  local side = side_of({ [0] = 1, eager = 2 }, noise(4, 0.1), { passes = 2 })
  local s = assert(rounds.measure(side, how { budget = 1e-9 })).speedup.eager
  check.equal(s.rounds, 3)
  assert(s.lo > 1)
end)

check.test("alone: the samples that were asked for, at least three", function()
  local side = side_of({ [0] = 1 }, noise(5, 0.1), { warm_ups = 0 })
  check.equal(#assert(rounds.measure(side, how { samples = 12 })).samples, 12)
  side = side_of({ [0] = 1 }, noise(5, 0.1), { warm_ups = 0 })
  local play = side.play
  side.play = function(self, order, _, ...) return play(self, order, 1, ...) end
  check.equal(#assert(rounds.measure(side, how { budget = 1e-9 })).samples, 3)
end)

check.test("where nobody was timed beside the candidate, that is no result", function()
  local side = side_of({ [0] = 1, eager = 2 }, noise(6, 0.1))
  side.play = function() return { ok = true } end
  local r, message, name = rounds.measure(side, how { rounds = 2 })
  check.equal(r, nil)
  check.equal(name, "io")
  check.matches(message, "no baseline survived")
end)

-- ---- a Python candidate: the same core

-- A task whose candidate and eager PyTorch both take a microsecond, give or take a tenth.
local function python_task()
  local clock, requests = noise(7, 0.1), 0
  local task = { graph = {}, inputs = {}, outputs = {}, params = {}, baselines = {}, known = {}, name = "fake",
                 next_seed = seeds.generator "python", begin_evaluation = function() end, new_poison = function() return 0 end,
                 device = { info = { name = "cuda:0", modelled = false }, drop_worker = function() end, settle = function() end } }
  function task:ask(request)
    if request.op == "python_work" then return { means = {}, lost = 0, seen = {} } end
    if request.op ~= "python_round" then return {} end
    requests = requests + 1
    local reply = { times = {}, compared = {} }
    for _, name in ipairs(request.order) do reply.times[name] = { 1e-6 * clock(), 0 } end
    for _, name in ipairs(request.judged) do
      reply.compared[name] = { slots = { {} }, reference = "float64", changed = {} }
    end
    return reply
  end
  return task, function() return requests end
end

local function judged(change)
  local all = options.copy(cawb.defaults)
  all.rules, all.verify.battery, all.measure.against = "off", {}, { "eager" }
  change(all.measure)
  local task, requests = python_task()
  local spawn = jail_host.spawn
  jail_host.spawn = function() return { pid = 1, fd = 0, parts = "fake", jail = "none", close = function() end } end
  local facts, message = evaluate.candidate(task, cawb.candidate { python = "class ModelNew: pass" }, all,
    { against = all.measure.against })
  jail_host.spawn = spawn
  assert(facts and facts.ok, message or facts and facts.reason)
  return facts, requests()
end

check.test("a Python candidate: what the clock cannot tell apart is not measured for ever", function()
  local facts, requests = judged(function(m) m.precision, m.decisive = 1e-5, false end)
  check.equal(facts.speedup.eager.rounds, 8)
  check.equal(requests, 5 + 3 + 8)                -- trials, warm-ups, rounds
  facts = judged(function(m) m.precision, m.decisive, m.resolution = 1e-5, false, 0 end)
  check.equal(facts.speedup.eager.rounds, 128)
end)

check.test("a Python candidate: one round is no interval", function()
  local s = judged(function(m) m.rounds = 1 end).speedup.eager
  check.equal(s.verdict, "undecided")
  assert(s.lo == 0 and s.hi == nil)
end)

check.test("a Python candidate: processes differ, and the interval covers it", function()
  -- each process has a speed of its own, within a tenth: calls alone would be sure of a difference
  local speeds = noise(11, 0.1)
  local own = {}
  local function between(share)
    local function group(scale)
      local list = {}
      for i = 1, 4 do own[i] = speeds(); list[i] = { scale * own[i], scale * own[i] * 1.0001 } end
      return list
    end
    return stats.between(group(share), group(1), 0.01)
  end
  local wrong = 0
  for _ = 1, 400 do
    local b = between(1)
    if b.lo > 1 or b.hi < 1 then wrong = wrong + 1 end
  end
  assert(wrong <= 12, wrong .. " of 400 are called different")
  assert(between(2).lo > 1.5)
  check.equal(stats.between({ { 1 } }, { { 2 } }, 0.01).hi, math.huge, "one process of each")
end)

-- All passes of four processes of each of two; everyone is slower in some passes, by up to `weather`, each process by up to
-- `own` in all of its passes, each call by up to a hundredth.
local function passes_of(weather, own, passes)
  local slow, speed, call = noise(3, weather), noise(5, own), noise(9, 0.01)
  local seen, drawn = {}, {}
  for pass = 1, passes do drawn[pass] = slow() end
  for _, who in ipairs { "candidate", "eager" } do
    for i = 1, 4 do
      local mine, list = speed(), {}
      for pass = 1, passes do list[pass] = drawn[pass] * mine * call() end
      seen[i == 1 and who or ("%s process %d"):format(who, i)] = list
    end
  end
  return seen
end

local function widened(seen)
  local result = { speedup = { eager = { median = 1.0, lo = 0.999, hi = 1.001 } } }
  processes.widen(seen, result, how())
  return result.speedup.eager
end

check.test("processes: what made everyone slow for a while is not taken for their speeds", function()
  local s = widened(passes_of(2.0, 0.0, 32))
  check.equal(s.verdict, "same")
  check.equal(s.processes, 4)
  local groups = { candidate = {}, eager = {} }
  for name, times in pairs(passes_of(2.0, 0.0, 32)) do table.insert(groups[processes.owner(name)], times) end
  local apart = stats.between(groups.eager, groups.candidate, 0.01)
  assert(apart.hi - apart.lo > 2 * (s.hi - s.lo), "by their times alone it would be as narrow")
end)

check.test("processes: rounds go on until these are known, too", function()
  assert(processes.sure(passes_of(0.0, 0.0, 64), "eager", how(), 1.0))
  assert(not processes.sure(passes_of(0.0, 0.1, 64), "eager", how(), 1.0))
  assert(processes.sure({ candidate = { 1 }, eager = { 1 } }, "eager", how(), 1.0), "one of each is all there is")
  assert(processes.sure(passes_of(0.0, 0.1, 64), "eager", how(), 1e-7), "the clock tells no more")
  check.equal(widened({ candidate = { 1, 1 }, eager = { 1, 1 } }).verdict, "undecided")
  local asked = 0
  local side = side_of({ [0] = 1, eager = 1 }, noise(1, 0.0), { passes = 1, sure = function(_, who)
    check.equal(who, "eager")
    asked = asked + 1
    return asked > 2
  end })
  check.equal(assert(rounds.measure(side, how())).speedup.eager.rounds, 32)
  check.equal(asked, 3)
end)

check.test("Student's quantiles", function()
  for df, q in pairs { [1] = 63.6567, [2] = 9.9248, [6] = 3.7074, [30] = 2.7500 } do
    assert(math.abs(stats.student(0.01, df) - q) < 1e-3, df)
  end
  check.equal(stats.student(0.01, 0), math.huge)
end)

return check.done()
