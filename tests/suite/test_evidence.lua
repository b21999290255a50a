-- What is done with stores afterwards: merge, rescore, watch. The stores are written here, by hand.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local ledger = require "cawb.run.ledger"
local merge = require "cawb.suite.merge"
local rescore = require "cawb.suite.rescore"
local rows = require "cawb.suite.rows"
local suite_report = require "cawb.suite.report"

local dir = check.folder()
local encode = core.json.encode

local function cawb(words)
  return check.shell(("'%s' %s 2>&1"):format(core.program, words))
end

local function speed(eager, compile)
  local function s(x) return { median = x, lo = x - 0.001, hi = x + 0.001 } end
  return { eager = s(eager), compile = s(compile) }
end

-- One turn: what it shows, and its full evaluation.
local function put_turn(store, run, number, turn, facts)
  assert(store:insert("candidates", { hash = "c", kind = "tier1", files = "{}" }))
  assert(store:insert("turns", { run = run, number = number, started = 2.0, candidate = "c", ok = turn.ok,
    stage = turn.stage, reason = turn.reason, reward = turn.reward, result = encode(turn) }))
  assert(store:insert("evaluations", { run = run, turn = number, number = 0, ok = turn.ok,
    facts = encode(facts or {}) }))
  assert(store:insert("samples", { run = run, turn = number, evaluation = 0, subject = "candidate", unit = "s",
    data = string.pack("<d", 1e-5) }))
end

local function new_store(name, body)
  local path = dir .. "/" .. name
  local store = assert(core.store.open(path))
  assert(store:begin())
  body(store)
  assert(store:commit())
  store:close()
  return path
end

local function put_run(store, id, strategy, ended)
  assert(store:insert("runs", { id = id, started = core.clock.wall(), strategy = strategy, task = "t.py",
    device = "sim:h100", options = "{}" }))
  if ended then assert(store:insert("run_ends", { run = id, ended = 3.0, status = "passed", summary = "{}" })) end
end

-- Rewards by hand, under tiers-paper: 1, 2, 3, -1; under tiers at 20%: 1, 1, 3, -1.
local four = new_store("four", function(store)
  put_run(store, "r1", "a.lua", true)
  put_turn(store, "r1", 1, { ok = true, reward = 1, speedup = speed(1.02, 1.0), time_s = { median = 1e-5 } })
  put_turn(store, "r1", 2, { ok = true, reward = 2, speedup = speed(1.10, 1.0), time_s = { median = 1e-5 } })
  put_run(store, "r2", "b.lua", true)
  put_turn(store, "r2", 1, { ok = true, reward = 3, speedup = speed(1.50, 1.3), time_s = { median = 1e-5 } },
    { kernels = { { registers = 40 } } })
  put_turn(store, "r2", 2, { ok = false, stage = "verify", reason = "wrong", reward = -1 })
end)

local function rescored(how)
  local store <close> = assert(core.store.open(four))
  how.reward = how.reward or require("cawb.run.rewards").get "tiers-paper"
  return assert(rescore.store(store, how))
end

check.test("the rewards of the run itself change nothing", function()
  local r = rescored {}
  check.equal(r.turns, 4)
  check.equal(r.rewards, 0)
  check.equal(r.verdicts, 0)
end)

check.test("tiers at 20% change the one turn between 5% and 20%", function()
  local path = check.write(dir .. "/tiers20.lua", [[
    local function beats(s) return s.median >= 1.2 and s.lo > 1 end
    return { reward = function(facts)
      if not facts.ok then return -1 end
      if not beats(facts.speedup.eager) then return 1 end
      return beats(facts.speedup.compile) and 3 or 2
    end }]])
  local out, status = cawb(("rescore %s --reward %s --json"):format(four, path))
  check.equal(status, 0, out)
  local r = core.json.decode(out)
  check.equal(#r.changes, 1)
  local c = r.changes[1]
  check.equal(c.run .. c.turn, "r12")
  check.equal(c.was, 2)
  check.equal(c.now, 1)
  check.equal(r.strategies[1].strategy, "b.lua")
  check.equal(r.strategies[2].now, 1)
end)

check.test("a reward that turns the order of strategies round says so", function()
  local path = check.write(dir .. "/upside.lua",
    "return { reward = function(f) return f.ok and -f.speedup.eager.median or -9 end }")
  local r = core.json.decode((cawb(("rescore %s --reward %s --json"):format(four, path))))
  check.equal(r.strategies[1].strategy, "a.lua")
  check.equal(r.strategies[1].rank_was, 2)
end)

check.test("rules reject what passed, and see facts of the full evaluation", function()
  local path = check.write(dir .. "/rules.lua",
    "return function(f) if f.kernels and f.kernels[1].registers > 32 then return 'too many registers' end end")
  local r = rescored(assert(rescore.rules(path)))
  check.equal(r.verdicts, 1)
  check.equal(r.changes[1].reason, "too many registers")
  check.equal(r.changes[1].now, -1)
  check.matches(cawb(("rescore %s --rules %s"):format(four, path)), "now rejected: too many registers")
end)

check.test("a set of rules: severities of stored findings, and floors asked again", function()
  local path = new_store("findings", function(store)
    put_run(store, "r", "a.lua", true)
    local time = { median = 1e-5, lo = 1e-5, hi = 1e-5 }
    put_turn(store, "r", 1, { ok = true, reward = 1, speedup = speed(1, 1), time_s = time },
      { rules = { flags = { { rule = "fast_math", stage = "compiled", reason = "as flagged" } } },
        floor = { seconds = 5e-6, memory = 5e-6, compute = 0, launch = 0 } })
    put_turn(store, "r", 2, { ok = false, stage = "source", reason = "clock", reward = -1 },
      { rules = { flags = core.json.array {}, rejected = { rule = "clock_reads", stage = "source",
        reason = "clock" } } })
    put_turn(store, "r", 3, { ok = true, reward = 1, speedup = speed(1, 1), time_s = time },
      { floor = { seconds = 2e-5, memory = 2e-5, compute = 0, launch = 0, precision = "float32" } })
  end)
  local function judged(set)
    local file = check.write(dir .. "/rules-mine.lua", "return { rules = " .. set .. " }")
    return core.json.decode((cawb(("rescore %s --rules %s --json"):format(path, file))):match "{.*}")
  end
  local function turns(r)
    local list = {}
    for _, c in ipairs(r.changes) do list[#list + 1] = c.turn .. (c.unknown and "?" or c.ok and "+" or "-") end
    return table.concat(list, " ")
  end
  check.equal(turns(judged "{ clock_reads = true, fast_math = { severity = 'flag' } }"), "")
  check.equal(turns(judged "{ clock_reads = true, fast_math = true }"), "1-")
  check.equal(turns(judged "{ clock_reads = false }"), "2?")
  check.equal(turns(judged "{ clock_reads = true, below_floor = true }"), "3-")
  check.equal(turns(judged "{ clock_reads = true, below_floor = { slack = 0.6 } }"), "")
  local _, status = cawb(("rescore %s --rules nosuch"):format(path))
  check.equal(status, 2)
end)

check.test("a tolerance: what passed may fail; what failed was never timed, and is unknown", function()
  local function trial(worst) return { outputs = { { unwritten = 0, numel = 8, dtype = "float32", scale = 1,
    nrms = worst / 2,
    worst = { error = worst, index = { 0 } }, eager = { worst = 1e-7, nrms = 1e-7 } } }, reference = "float64" } end
  local path = new_store("errors", function(store)
    put_run(store, "r", "a.lua", true)
    put_turn(store, "r", 1, { ok = true, reward = 1, speedup = speed(1, 1) }, { trials = { trial(5e-6) } })
    put_turn(store, "r", 2, { ok = false, stage = "verify", reason = "wrong", reward = -1 },
      { trials = { trial(5e-4) } })
  end)
  local function judged(text)
    local file = check.write(dir .. "/tolerance.lua", text)
    return core.json.decode((cawb(("rescore %s --tolerance %s --json"):format(path, file))))
  end
  check.equal(#judged("return { tolerance = {} }").changes, 0)
  local r = judged "return { tolerance = { floors = { float32 = { worst = 1e-6, nrms = 1e-6 } } } }"
  check.equal(r.verdicts, 1)
  check.equal(r.changes[1].turn, 1)
  r = judged "return { tolerance = { floors = { float32 = { worst = 1e-2, nrms = 1e-2 } } } }"
  check.equal(r.unknown, 1)
  check.equal(r.changes[1].turn, 2)
  check.equal(r.changes[1].now, nil)
end)

check.test("rescore: wrong words, broken rewards", function()
  for words, says in pairs { ["rescore"] = "one store is needed", ["rescore /nosuch"] = "there is no store",
      ["rescore " .. four .. " --reward nosuch"] = "reward 'nosuch'",
        ["rescore " .. four .. " --reword x"] = "one store is needed" } do
    local out, status = cawb(words)
    check.equal(status, 2, words .. out)
    check.matches(out, says)
  end
  local path = check.write(dir .. "/broken.lua", "return { reward = function(f) return f.nosuch.x end }")
  local out, status = cawb(("rescore %s --reward %s"):format(four, path))
  check.equal(status, 2)
  check.matches(out, "run r1, turn 1: the reward function failed")
end)

-- ---- merge

-- The rows of a shard; run and row of each task.
local function shard(name, keys)
  return new_store(name, function(store)
    store:insert("suites", { id = "s", json = '{"strategy":"a.lua"}' })
    store:insert("suite_sessions", { suite = "s", started = 1.0, json = encode { tasks = core.json.array(keys) } })
    for i, key in ipairs(keys) do
      put_run(store, key .. "-run", "a.lua", true)
      put_turn(store, key .. "-run", 1, { ok = true, reward = 1, speedup = speed(1 + i / 10, 1),
        time_s = { median = 1e-5 } })
      store:insert("suite_tasks", { suite = "s", task = key, attempt = 1, level = 1, problem_id = i,
        name = key, code = "h",
        status = "pass", run = key .. "-run", started = 1.0, ended = 2.0,
        json = encode { best = { time_s = { median = 1e-5, lo = 1e-5, hi = 1e-5 },
          speedup = speed(1 + i / 10, 1) } } })
    end
  end)
end

local function table_of(path)
  local store <close> = assert(core.store.open(path))
  return table.concat(suite_report.lines(rows.read(store, "s"), "ours"), "\n")
end

check.test("two shards merge into the table of one run; merging again adds nothing", function()
  local both, one, two = shard("both", { "a", "b" }), shard("one", { "a" }), dir .. "/two"
  new_store("two", function(store)
    store:insert("suites", { id = "s", json = '{"strategy":"a.lua"}' })
    put_run(store, "b-run", "a.lua", true)
    put_turn(store, "b-run", 1, { ok = true, reward = 1, speedup = speed(1.2, 1), time_s = { median = 1e-5 } })
    store:insert("suite_tasks", { suite = "s", task = "b", attempt = 1, level = 1, problem_id = 2,
      name = "b", code = "h",
      status = "pass", run = "b-run", started = 1.0, ended = 2.0,
      json = encode { best = { time_s = { median = 1e-5, lo = 1e-5, hi = 1e-5 }, speedup = speed(1.2, 1) } } })
  end)
  local out, status = cawb(("merge %s/into %s %s"):format(dir, one, two))
  check.equal(status, 0, out)
  check.equal(table_of(dir .. "/into"), table_of(both))
  out = cawb(("merge %s/into %s %s"):format(dir, one, two))
  check.matches(out, "one: 0 runs, 0 turns, 0 rows")
  local store <close> = assert(core.store.open(dir .. "/into"))
  for name, n in pairs { runs = 2, turns = 2, evaluations = 2, samples = 2, run_ends = 2, suite_tasks = 2,
    candidates = 1 } do
    check.equal(store:query("SELECT count(*) AS n FROM " .. name)[1].n, n, name)
  end
end)

check.test("a run that went on since is completed", function()
  local path = new_store("going", function(store)
    put_run(store, "g", "a.lua")
    put_turn(store, "g", 1, { ok = true, reward = 1 })
  end)
  local into <close> = assert(core.store.open(dir .. "/gone"))
  local from <close> = assert(core.store.open(path))
  assert(merge.stores(into, from))
  put_turn(from, "g", 2, { ok = true, reward = 2 })
  assert(from:insert("run_ends", { run = "g", ended = 3.0, status = "passed", best_turn = 2 }))
  local added = assert(merge.stores(into, from))
  check.equal(added.runs, 0)
  check.equal(added.turns, 1)
  check.equal(into:query("SELECT best_turn FROM run_ends")[1].best_turn, 2)
end)

check.test("an attempt at the same task elsewhere comes behind", function()
  local a, b = shard("x", { "a" }), shard("y", { "a" })
  local from <close> = assert(core.store.open(b))
  assert(from:insert("suite_tasks", { suite = "s", task = "a", attempt = 2, name = "a", code = "h",
    status = "timeout",
    run = "other", started = 5.0, ended = 6.0, json = "{}" }))
  local into <close> = assert(core.store.open(a))
  assert(merge.stores(into, from))
  local list = rows.read(into, "s")
  check.equal(#list, 1)
  check.equal(list[1].status, "timeout")
end)

-- ---- watch

check.test("watch shows what is in progress", function()
  local path = new_store("live", function(store)
    put_run(store, "running", "a.lua")
    put_turn(store, "running", 1, { ok = true, reward = 2, time_s = { median = 1e-5, lo = 1e-5, hi = 1e-5,
      samples = 9 } })
    put_run(store, "over", "b.lua", true)
    put_run(store, "gone", "c.lua")                  -- and nobody holds its lock
  end)
  assert(core.fs.mkdir(path .. "/locks"))
  local lock <close> = assert(core.fs.lock(ledger.lock_path(path, "running")))
  check.write(ledger.now_path(path, "running"), core.json.encode { said = "turn 2  verify", doing = "simulating", part = "3 of 16",
    since = core.clock.wall() - 100, ends = core.clock.wall() + 1000 })
  local out, status = cawb("watch --once " .. path)
  check.equal(status, 0, out)
  check.matches(out, "t%.py +a%.lua +sim:h100 +1 of")
  check.matches(out, "  turn 2  verify  3 of 16  simulating  %d+ min  about 1%d min left  ")
  check.matches(out, "turn 1, 10 %[10, 10%] us, reward 2")
  check.matches(out, "1 run has ended")
  assert(not out:find "b%.lua" and not out:find "c%.lua")
  check.matches(cawb("watch --once " .. dir .. "/into"), "suite s, a%.lua: 2 of 2 tasks, 2 pass")
end)

check.test("watch ends when nobody reads it any more", function()
  local path = new_store("unread", function(store) put_run(store, "over", "b.lua", true) end)
  local out = check.shell(("(timeout 60 '%s' watch --every 0.01 '%s'; echo \"ended with $?\" >&2) 2>&1 >/dev/full"):format(core.program, path))
  check.matches(out, "ended with 3")
  out = check.shell(("(timeout 60 '%s' watch --every 0.01 '%s'; echo \"ended with $?\" >&2) 2>%s/ended | head -1; cat %s/ended")
    :format(core.program, path, dir, dir))
  check.matches(out, "ended with 3")
end)

-- ---- the stack, and what was measured on it

local small = " --device sim:h100 --set task.rows=16 --set task.cols=64 --set turns=1 --set sweep.variants=1 --quiet "

check.test("reproduce: a stored candidate agrees with itself; another time does not", function()
  local out, status = cawb(("strategies/ladder.lua examples/softmax.py %s --out %s/again"):format(small, dir))
  check.equal(status, 0, out)
  local store <close> = assert(core.store.open(dir .. "/again"))
  local run = store:query("SELECT id FROM runs")[1].id
  out, status = cawb(("reproduce %s --out %s/again"):format(run, dir))
  check.equal(status, 0, out)
  check.matches(out, "time +.- agrees")
  check.matches(out, "It agrees%.")
  -- The same run as if it had been twice as fast.
  local r = store:query("SELECT * FROM runs")[1]
  local t = store:query("SELECT * FROM turns")[1]
  local e = store:query("SELECT * FROM evaluations WHERE number = 0")[1]
  local result = core.json.decode(t.result)
  for _, key in ipairs { "median", "lo", "hi" } do result.time_s[key] = result.time_s[key] / 2 end
  r.id, t.run, e.run, t.result = "faster", "faster", "faster", encode(result)
  assert(store:begin())
  for name, row in pairs { runs = r, turns = t, evaluations = e } do assert(store:insert(name, row)) end
  assert(store:commit())
  out, status = cawb(("reproduce faster --out %s/again --json"):format(dir))
  check.equal(status, 1, out)
  local said = core.json.decode(out)
  check.equal(said.agrees, false)
  check.equal(said.compared[1].ok, false)
  check.equal(said.compared[2].ok, true)
end)

check.test("reproduce executes no Lua and no unjailed candidate of somebody else's record, unless it is trusted", function()
  local evil = check.write(dir .. "/evil.lua", ([[io.open(%q, "w"):close() return { rules = {} }]]):format(dir .. "/executed"))
  local store <close> = assert(core.store.open(dir .. "/again"))
  local r = store:query("SELECT * FROM runs LIMIT 1")[1]
  local t = store:query("SELECT * FROM turns WHERE run = ?", r.id)[1]
  local e = store:query("SELECT * FROM evaluations WHERE run = ? AND number = 0", r.id)[1]
  assert(store:begin())
  for id, wrong in pairs { ruled = { rules = evil }, unjailed = { tier2 = { jail = "none" } } } do
    local all = core.json.decode(r.options)
    for key, value in pairs(wrong) do all[key] = value end
    r.id, t.run, e.run, r.options = id, id, id, encode(all)
    for name, row in pairs { runs = r, turns = t, evaluations = e } do assert(store:insert(name, row)) end
  end
  assert(store:commit())
  for _, id in ipairs { "ruled", "unjailed" } do
    local out, status = cawb(("reproduce %s --out %s/again"):format(id, dir))
    check.equal(status, 2, out)
    check.matches(out, "give %-%-trust if you recorded it yourself")
  end
  check.equal(core.fs.kind(dir .. "/executed"), nil)
  local out = cawb(("reproduce ruled --trust --out %s/again"):format(dir))
  check.matches(out, "It agrees%.")
  check.equal(core.fs.kind(dir .. "/executed"), "file")
end)

check.test("what a kernel does with denormal numbers is kept", function()
  local out, status = cawb(("strategies/ladder.lua examples/gelu.py %s --out %s/denormals"):format(small, dir))
  check.equal(status, 0, out)
  local store <close> = assert(core.store.open(dir .. "/denormals"))
  local facts = core.json.decode(store:query("SELECT facts FROM evaluations WHERE number = 0")[1].facts)
  check.equal(facts.denormals, "kept")
  check.equal(core.json.decode(store:query("SELECT result FROM turns")[1].result).denormals, "kept")
end)

check.test("reproduce says what is missing", function()
  for words, says in pairs { ["reproduce"] = "one run is needed",
    ["reproduce x --out /nosuch"] = "there is no store",
      ["reproduce x --out " .. four] = "has no run 'x'",
        ["reproduce r1 --out " .. four .. " --turn 9"] = "has no turn 9" } do
    local out, status = cawb(words)
    check.equal(status, 2, words .. out)
    check.matches(out, says)
  end
end)

check.test("doctor --lock and --against: the same, a warning, another stack", function()
  local path = dir .. "/lock.json"
  local out, status = cawb("doctor --device sim:h100 --lock " .. path)
  check.equal(status, 0, out)
  local text = assert(io.open(path)):read "a"
  for _, field in ipairs { "model", "torch", "cuda", "nvrtc", "cawb", "build", "library" } do
    check.matches(text, '"' .. field .. '": ')
  end
  out, status = cawb("doctor --device sim:h100 --against " .. path)
  check.equal(status, 0, out)
  check.matches(out, "the stack is the one in")
  check.write(path, (text:gsub('"library": "%x+"', '"library": "0"')))
  out, status = cawb("doctor --device sim:h100 --against " .. path)
  check.equal(status, 0, out)
  check.matches(out, "warning +library +0 ")
  check.write(path, (text:gsub('"torch": "[^"]+"', '"torch": "1.0"')))
  out, status = cawb("doctor --device sim:h100 --against " .. path)
  check.equal(status, 1, out)
  check.matches(out, "refused +torch +1%.0 ")
  check.write(path, "{}")
  out, status = cawb("doctor --device sim:h100 --against " .. path)
  check.equal(status, 2, out)
  check.matches(out, "is no lock that cawb doctor wrote")
end)

return check.done()
