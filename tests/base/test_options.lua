-- Options: layers, types, suggestions; the command line; statistics; seeds.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local command_line = require "cawb.door.command_line"
local options = require "cawb.base.options"
local rewards = require "cawb.run.rewards"
local seeds = require "cawb.base.seeds"
local stats = require "cawb.base.stats"
local strategy = require "cawb.base.strategy"

local function fresh()
  local all = options.copy(cawb.defaults)
  all.settings = { width = 4 }
  return all
end

check.test("a later layer wins, and leaves its neighbours alone", function()
  local all = fresh()
  assert(options.overlay(all, { turns = 7, verify = { trials = 2 } }, "a.lua"))
  check.equal(all.turns, 7)
  check.equal(all.verify.trials, 2)
  check.equal(all.measure.samples, cawb.defaults.measure.samples)
  check.equal(cawb.defaults.verify.trials, 5, "the defaults themselves")
end)

check.test("an unknown key names the file and suggests", function()
  local ok, message = options.overlay(fresh(), { turms = 3 }, "quick.lua")
  assert(not ok)
  check.equal(message, "quick.lua: unknown option 'turms' (did you mean 'turns'?)")
  ok, message = options.overlay(fresh(), { verify = { trails = 3 } }, "quick.lua")
  assert(not ok)
  check.matches(message, "unknown option 'verify%.trails' %(did you mean 'trials'%?%)")
end)

check.test("options out of a record: old names are today's, what nobody knows is left out", function()
  local all = options.restored { turns = 3, gone = 1, reward = "tiers-paper", task = { rows = 7 },
    deadlines = { module = 11.0, run = 2.0, gone = 1.0 }, measure = { against = { "eager", { source = "x" } } } }
  check.equal(all.turns, 3)
  check.equal(all.task.rows, 7)
  check.equal(all.deadlines.python, 11.0)
  check.equal(all.deadlines.run, 2.0)
  assert(all.gone == nil and all.deadlines.gone == nil and all.deadlines.module == nil)
  check.equal(#all.measure.against, 1)
end)

check.test("a wrong type is an error that says which", function()
  local _, message = options.overlay(fresh(), { turns = "many" }, "x.lua")
  check.equal(message, "x.lua: option 'turns' must be a number, got string")
  _, message = options.overlay(fresh(), { turns = 1.5 }, "x.lua")
  check.matches(message, "must be a whole number")
  _, message = options.overlay(fresh(), "no table", "x.lua")
  check.matches(message, "must return a table of options, got string")
end)

check.test("--set reaches every option, and free keys of a task", function()
  local all = fresh()
  for _, text in ipairs { "turns=3", "seconds=1.5", "verify.trials=9", "task.rows=64",
                          "task.name=abc", "settings.width=8", "measure.against=eager" } do
    assert(options.set(all, text))
  end
  check.equal(all.turns, 3)
  check.equal(all.seconds, 1.5)
  check.equal(all.verify.trials, 9)
  check.equal(all.task.rows, 64)
  check.equal(all.task.name, "abc")
  check.equal(all.settings.width, 8)
  check.equal(#all.measure.against, 1)
end)

check.test("--set explains what it cannot take", function()
  local function says(text, pattern)
    local ok, message = options.set(fresh(), text)
    assert(not ok, text .. " was taken")
    check.matches(message, pattern)
  end
  says("turns", "write key=value")
  says("turns=abc", "must be a number, got 'abc'")
  says("deadlines.module=3", "option 'deadlines%.module' is called 'deadlines%.python' now")
  says("trun=3", "unknown option 'trun' %(did you mean 'turns'%?%)")
  says("verify.trial=3", "unknown option 'verify%.trial' %(did you mean 'trials'%?%)")
  says("turns.more=3", "'turns' has no parts")
end)

check.test("a value out of range is an error that says the range", function()
  local function says(text, pattern)
    local ok, message = options.set(fresh(), text)
    assert(not ok, text .. " was taken")
    check.matches(message, pattern)
  end
  says("verify.trials=0", "'verify.trials' must be at least 1, got 0")
  says("turns=1.5", "must be a whole number")
  says("deadlines.run=0", "must be positive")
  says("plan.memory=10", "at least 1048576")
  says("measure.error_rate=0.7", "between 0 and 0.5")
  says("measure.against=foo", "knows eager, compile, .*not 'foo'")
  says("verify=3", "this is a group; set one of its parts, such as verify%.")
  says("task.n=1e999", "finite")
  says("settings.blokc=3", "unknown option 'settings.blokc'")
  local ok, message = options.overlay(fresh(), { seconds = math.huge }, "x.lua")
  assert(not ok and message:find "finite")
end)

check.test("a sweep leaves no value out in step, and starts with the first of each", function()
  local seen, first = { a = {}, b = {} }, nil
  local evaluate = require "cawb.judge.evaluate"
  for _, m in ipairs(evaluate.members({ { name = "a", values = { 1, 2, 3, 4, 5, 6, 7, 8 } },
                                        { name = "b", values = { 0, 1 } } }, 8)) do
    first = first or m
    seen.a[m.a], seen.b[m.b] = true, true
  end
  assert(first.a == 1 and first.b == 0 and seen.b[0] and seen.b[1])
  local many = {}
  for i = 1, 40 do many[i] = { name = "t" .. i, values = { 1, 2, 3, 4, 5, 6, 7, 8 } } end
  check.equal(#evaluate.members(many, 5), 5)
end)

check.test("the command line", function()
  local o = assert(command_line.parse { "s.lua", "t.py", "--device", "sim:h100", "--set", "a=1", "--set=b=2",
                               "--config", "c.lua", "--json" })
  check.equal(table.concat(o.words, " "), "s.lua t.py")
  check.equal(o.device, "sim:h100")
  check.equal(table.concat(o.sets, " "), "a=1 b=2")
  check.equal(o.configs[1], "c.lua")
  assert(o.json and not o.quiet)
  local none, message = command_line.parse { "--devise", "x" }
  assert(not none)
  check.matches(message, "did you mean '%-%-device'%?")
  none, message = command_line.parse { "--out" }
  assert(not none)
  check.equal(message, "--out needs a value")
end)

check.test("a strategy's keys are checked", function()
  local s = assert(strategy.check({ turns = 3, stop = function() end }, "s.lua"))
  check.equal(s.options.turns, 3)
  assert(s.step, "a strategy without a loop gets the default one")
  local none, message = strategy.check({ setp = function() end }, "s.lua")
  assert(not none)
  check.equal(message, "s.lua: unknown option 'setp' (did you mean 'step'?)")
  none, message = strategy.check({ step = 3 }, "s.lua")
  assert(not none)
  check.equal(message, "s.lua: 'step' must be a function, got number")
end)

check.test("a share of cases has an exact interval", function()
  local function near(got, want) assert(math.abs(got - want) < 1e-4, ("%.5f, want %.5f"):format(got, want)) end
  local s = stats.share(0, 20)
  near(s.lo, 0) near(s.hi, 0.16843)                     -- 1 - 0.025^(1/20)
  s = stats.share(20, 20)
  near(s.lo, 0.83157) near(s.hi, 1)
  s = stats.share(3, 10)
  near(s.share, 0.3) near(s.lo, 0.06674) near(s.hi, 0.65245)
  s = stats.share(1, 3000)
  near(s.lo, 8.4e-6) near(s.hi, 1.856e-3)
  assert(stats.share(3, 10, 0.01).hi > s.hi)
end)

check.test("the median and its interval", function()
  local list = {}
  for i = 1, 101 do list[i] = (i * 37) % 101 + 1 end      -- 1..101 in some order
  local s = stats.summary(list)
  check.equal(s.median, 51.0)
  check.equal(s.samples, 101)
  assert(s.lo < 51 and s.lo >= 39 and s.hi > 51 and s.hi <= 63)
  local one = stats.summary { 2 }
  assert(one.lo == 2 and one.hi == 2)
  local r = stats.speedup({ median = 4, lo = 3, hi = 5 }, { median = 2, lo = 1, hi = 4 })
  assert(r.median == 2 and r.lo == 0.75 and r.hi == 5)
end)

check.test("the paper's tiers", function()
  local reward = assert(rewards.get "tiers-paper")
  local function facts(eager, compile)
    return { ok = true, speedup = { eager = { median = eager, lo = eager }, compile =
      compile and { median = compile, lo = compile } } }
  end
  check.equal(rewards.value(reward, { ok = false }), -1)
  check.equal(rewards.value(reward, facts(1.04, 9)), 1)
  check.equal(rewards.value(reward, facts(1.06, 1.0)), 2)
  check.equal(rewards.value(reward, facts(1.06, nil)), 2)
  check.equal(rewards.value(reward, facts(1.06, 1.06)), 3)
  check.equal(rewards.value(reward, { ok = true, speedup = { eager = { median = 2, lo = 0.9 } } }), 1)
end)

check.test("a reward is a config line, and pays for the lower bound", function()
  local all = fresh()
  assert(options.overlay(all, assert(strategy.load_table "configs/reward-log-speedup.lua"), "c"))
  local facts = { ok = true, speedup = { eager = { median = 3, lo = 2 }, compile = { median = 2, lo = 1 } } }
  check.equal(rewards.value(all.reward, facts), 0.0)
  facts.speedup.compile.lo = 1.5
  assert(rewards.value(all.reward, facts) == math.log(1.5))
end)

check.test("a reward cannot change its facts, nor return nonsense", function()
  local facts = { ok = true, speedup = { eager = { median = 1 } } }
  local value, message = rewards.value(function(f) f.speedup.eager.median = 99 end, facts)
  assert(not value and message:find "facts are read%-only")
  check.equal(facts.speedup.eager.median, 1)
  value, message = rewards.value(function() return 0 / 0 end, facts)
  assert(not value and message:find "not a finite number")
  value, message = rewards.value(function() return "3" end, facts)
  assert(not value)
  check.matches(message, 'test_options%.lua:%d+ returned "3", not a finite number')
end)

check.test("seeds: secret, repeatable, exact in JSON", function()
  local a, b, c = seeds.generator "7", seeds.generator "7", seeds.generator "8"
  local first = a "verify"
  check.equal(first, b "verify")
  assert(first ~= c "verify" and first ~= a "verify" and first < 2 ^ 52)
  assert(seeds.fresh() ~= seeds.fresh())
  local poison = seeds.poison(a)
  check.equal(poison >> 16, poison & 0xffff)
  assert(poison & 0x7ff8 == 0x7ff8)
end)

return check.done()
