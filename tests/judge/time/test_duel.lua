-- Paired measurement without a device: a task and samples made of numbers.

local check = dofile "tests/support/check.lua"
local duel = require "cawb.judge.time.duel"
local options = require "cawb.base.options"
local schema = require "cawb.base.schema"
local seeds = require "cawb.base.seeds"
local stats = require "cawb.base.stats"
local host = require "cawb.base.wire".protocol "host"

-- A task whose baselines take `times[kind]` seconds, times whatever the clock does;
-- the log says in which order everyone was timed, the requests how they were asked.
local function fake(times, clock)
  local log, requests = {}, {}
  local device = { undisturbed = function(_, f, ...) return f(...) end }
  local task = { baselines = {}, next_seed = seeds.generator "test", device = device }
  local function batch(who, count)
    log[#log + 1] = who
    local samples = {}
    for i = 1, count do samples[i] = times[who] * clock() end
    return samples
  end
  function task:ask(request)
    local form = assert(host.forms[request.op], request.op)
    check.equal(schema.check(form.request, request, host.types), nil, "as the task host takes it")
    requests[#requests + 1] = request
    local batches, kinds = {}, {}
    if request.op == "set_up" then
      for _, kind in ipairs(request.order) do kinds[kind] = { failed = type(times[kind]) == "string" and times[kind] or nil } end
      return { kinds = kinds }
    end
    for _, kind in ipairs(request.order) do
      kinds[kind] = { error = { worst = 1e-7 } }
      if type(times[kind]) == "string" then
        kinds[kind] = { failed = times[kind] }
        log[#log + 1] = kind
      else batches[#batches + 1] = { kind = kind, samples = batch(kind, request.samples) } end
    end
    return { batches = batches, kinds = kinds }
  end
  local function sample(_, subject, h)
    if times[subject.name] == "wrong" then return { ok = false, reason = "wrong" } end
    return { ok = true, samples = batch(subject.name, h.samples), launch_bound = 3e-6 }
  end
  return task, sample, log, requests
end

local mine = { name = "candidate" }

local function how(changes)
  local h = options.copy(require("cawb.base.defaults").measure)
  for k, v in pairs(changes or {}) do h[k] = v end
  return h
end

local function still() return 1 end

-- A small generator with a fixed seed, so that the test is the same every time.
local function noise(state)
  return function()
    state = (state * 6364136223846793005 + 1442695040888963407)
    return 1 + 0.02 * ((state >> 33) / (1 << 31) - 0.5)
  end
end

check.test("every round asks everyone equally, in an order and its reverse", function()
  local task, sample, log = fake({ candidate = 1, eager = 2, compile = 3 }, noise(3))
  local r = assert(duel.fight(task, mine, how { rounds = 16, precision = 1e-9, decisive = false,
                                                batch = 1, slice = 100, resolution = 0 }, sample))
  local orders, kinds, at = {}, 0, 4             -- everyone once to warm up
  for _ = 1, 16 do                               -- the candidate is one batch in the middle
    local n = log[at] == "candidate" and 6 or 5
    local list = table.move(log, at, at + n - 1, 1, {})
    for i = 1, n do check.equal(list[i], list[n + 1 - i]) end
    local words = table.concat(list, " ")
    if not orders[words] then orders[words], kinds = true, kinds + 1 end
    at = at + n
  end
  check.equal(at, #log + 1)
  check.equal(kinds, 4)
  for _, kind in ipairs { "eager", "compile" } do check.equal(#r.baseline_samples[kind], 32) end
  check.equal(#r.samples, 32)
end)

check.test("baselines that follow one another are one request", function()
  local task, sample, _, requests = fake({ candidate = 1, eager = 2, compile = 3 }, still)
  assert(duel.fight(task, mine, how { rounds = 8 }, sample))
  for i, request in ipairs(requests) do
    assert(#request.order == (i == 1 and 2 or 4) or #request.order == 2, i)
  end
  assert(#requests < 2 * 2 * 8, "every batch was a request of its own")
end)

check.test("where places share a device, baselines are set up beside the others, and what is timed is not interrupted", function()
  local task, sample, log, requests = fake({ candidate = 1, eager = 2, compile = "no" }, still)
  local alone = 0
  task.device = { lane = {}, undisturbed = function(_, f, ...)
    alone = alone + 1
    check.equal(#requests, 1, "it was set up before")
    return f(...)
  end }
  local r = assert(duel.fight(task, mine, how { rounds = 8 }, sample))
  check.equal(alone, 1)
  check.equal(requests[1].op .. " " .. table.concat(requests[1].order, " "), "set_up eager compile")
  for i = 2, #requests do check.equal(requests[i].op, "baselines") end
  check.equal(task.baselines.compile.failed, "no")
  for _, who in ipairs(log) do check.equal(who ~= "compile", true, "what cannot be set up is not timed") end
  check.equal(r.speedup.eager.median, 2)
  task, sample, _, requests = fake({ candidate = 1, eager = 2 }, still)
  assert(duel.fight(task, mine, how { rounds = 8, against = { "eager" } }, sample))
  check.equal(requests[1].op, "baselines", "a device of one's own needs no request more")
end)

-- The secret inputs that each of some candidates is timed on, in order: lists of seeds.
local function timed_on(count, inputs_for, between)
  local task, sample = fake({ candidate = 1, eager = 2 }, still)
  local all = {}
  for i = 1, count do
    local seen = {}
    assert(duel.fight(task, mine, how { rounds = 8, against = { "eager" }, inputs_for = inputs_for }, function(t, c, h)
      if not seen[h.seed] then seen[#seen + 1], seen[h.seed] = h.seed, true end
      return sample(t, c, h)
    end))
    all[i] = table.concat(seen, " ")
    if between then between(task) end
  end
  return all
end

check.test("each candidate is timed on inputs of its own, or some in a row on the same", function()
  local own = timed_on(3, 1)
  assert(own[1] ~= own[2] and own[2] ~= own[3] and own[1]:find " ")
  local shared = timed_on(5, 2)
  assert(shared[1] == shared[2] and shared[3] == shared[4], "two in a row have the same")
  assert(shared[2] ~= shared[3] and shared[4] ~= shared[5], "the third has others")
  local anew = timed_on(2, 2, function(task) task.timed_inputs = nil end)          -- as a confirmation does
  assert(anew[1] ~= anew[2])
end)

check.test("long kernels are timed in short batches", function()
  local task, sample, _, requests = fake({ candidate = 0.004, eager = 0.002 }, still)
  assert(duel.fight(task, mine, how { against = { "eager" } }, sample))
  check.equal(requests[#requests].samples, 1)
  task, sample, _, requests = fake({ candidate = 2e-5, eager = 2e-5 }, still)
  assert(duel.fight(task, mine, how { against = { "eager" } }, sample))
  check.equal(requests[#requests].samples, how().batch)
end)

check.test("what the clock cannot tell apart is not measured for ever", function()
  local task, sample = fake({ candidate = 4e-6, eager = 4e-6 }, noise(5))
  local h = { against = { "eager" }, precision = 1e-5 }
  check.equal(assert(duel.fight(task, mine, how(h), sample)).speedup.eager.rounds, 8)
  h.resolution = 0
  assert(assert(duel.fight(task, mine, how(h), sample)).speedup.eager.rounds > 8)
end)

check.test("another candidate is a rival too, and what a launch costs is told", function()
  local rival = { name = "rival" }
  local task, sample = fake({ candidate = 1, rival = 1.5 }, still)
  local r = assert(duel.fight(task, mine, how { against = { rival } }, sample))
  check.equal(r.speedup.rival.verdict, "faster")
  check.equal(r.launch_bound_s, 3e-6)
  task, sample = fake({ candidate = 1, rival = "wrong", eager = 2 }, still)
  r = assert(duel.fight(task, mine, how { against = { rival, "eager" } }, sample))
  assert(r.ok and not r.speedup.rival and r.speedup.eager)
  check.equal(task.baselines.rival.failed, "wrong")
end)

check.test("the ratio survives a clock that drifts by half", function()
  local now = 1
  local task, sample = fake({ candidate = 1, eager = 2 }, function()
    now = now + 0.0005
    return now
  end)
  local r = assert(duel.fight(task, mine, how { against = { "eager" } }, sample))
  local s = r.speedup.eager
  assert(math.abs(s.median - 2) < 0.01 and s.lo > 1.95 and s.hi < 2.05)
  check.equal(s.verdict, "faster")
  assert(#r.samples == r.time_s.samples and task.baselines.eager.error.worst == 1e-7)
end)

check.test("it stops when every interval is narrow enough", function()
  local task, sample = fake({ candidate = 1, eager = 2 }, still)
  local r = assert(duel.fight(task, mine, how { against = { "eager" } }, sample))
  check.equal(r.speedup.eager.rounds, 8)       -- the fewest that give a 99% interval
end)

check.test("a baseline that fails is left out, and asked once", function()
  local task, sample, log = fake({ candidate = 1, eager = 2, compile = "no compiler" }, still)
  local r = assert(duel.fight(task, mine, how(), sample))
  assert(r.speedup.eager and not r.speedup.compile)
  check.equal(task.baselines.compile.failed, "no compiler")
  local asked = 0
  for _, who in ipairs(log) do if who == "compile" then asked = asked + 1 end end
  check.equal(asked, 1)
end)

check.test("a candidate that fails while it is timed is data", function()
  local task = fake({ eager = 2 }, still)
  local r = assert(duel.fight(task, mine, how(), function()
    return { ok = false, stage = "measure", reason = "wrong" }
  end))
  check.equal(r.reason, "wrong")
end)

check.test("A against A: at most 1% of 400 are called faster or slower", function()
  local called = 0
  for i = 1, 400 do
    local task, sample = fake({ candidate = 1, eager = 1 }, noise(i * 7919))
    local v = assert(duel.fight(task, mine, how { against = { "eager" } }, sample)).speedup.eager.verdict
    if v == "faster" or v == "slower" then called = called + 1 end
  end
  assert(called <= 4, called .. " of 400")
end)

check.test("a true 2% is seen in at least 95% of 400", function()
  local seen = 0
  for i = 1, 400 do
    local task, sample = fake({ candidate = 1.02, eager = 1 }, noise(i * 104729))
    if assert(duel.fight(task, mine, how { against = { "eager" } }, sample)).speedup.eager.verdict == "slower" then
      seen = seen + 1
    end
  end
  assert(seen >= 380, seen .. " of 400")
end)

check.test("the interval of a median covers it, by its ranks", function()
  local ratios = { 5, 1, 4, 2, 8, 7, 3, 6 }
  local s = stats.paired(ratios, 0.01)
  check.equal(s.lo, 1)
  check.equal(s.hi, 8)
  check.equal(s.median, 4.5)
  s = stats.paired({ 1, 2, 3 }, 0.01)
  assert(s.lo == 0 and s.hi == math.huge)
end)

check.test("the looks together err no more than they may", function()
  for _, rounds in ipairs { 1, 5, 8, 30, 128 } do
    local looks, sum = stats.looks(rounds, 0.01), 0
    for i, look in ipairs(looks) do
      sum = sum + look.error
      assert(i == 1 or look.at > looks[i - 1].at)
    end
    check.equal(looks[#looks].at, rounds)
    assert(sum <= 0.01 + 1e-12, sum)
  end
  check.equal(stats.looks(128, 0.01)[1].at, 8)
  assert(stats.paired({ 2, 2, 2, 2, 2, 2, 2, 2 }, stats.looks(128, 0.01)[1].error).hi == 2)
end)

check.test("a clear difference ends it early, a doubtful one goes on", function()
  local task, sample = fake({ candidate = 1, eager = 1.3 }, noise(11))
  local h = { against = { "eager" }, precision = 1e-6 }
  check.equal(assert(duel.fight(task, mine, how(h), sample)).speedup.eager.rounds, 8)
  h.decisive = false
  check.equal(assert(duel.fight(task, mine, how(h), sample)).speedup.eager.rounds, 128)
end)

check.test("verdicts", function()
  check.equal(stats.verdict({ median = 1.1, lo = 1.05, hi = 1.2 }, 0.01), "faster")
  check.equal(stats.verdict({ median = 0.9, lo = 0.8, hi = 0.95 }, 0.01), "slower")
  check.equal(stats.verdict({ median = 1.0, lo = 0.995, hi = 1.005 }, 0.01), "same")
  check.equal(stats.verdict({ median = 1.002, lo = 1.001, hi = 1.03 }, 0.01), "undecided")
  check.equal(stats.verdict({ median = 1.1, lo = 0.9, hi = 1.2 }, 0.01), "undecided")
end)

return check.done()
