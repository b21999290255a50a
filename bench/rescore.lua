-- cawb bench/rescore.lua [TURNS]: how long does it take to judge so many stored turns again? The
-- store is filled with turns as a run on a GPU leaves them. The median of five, the least and the most.

local core = require "cawb.core"
local rescore = require "cawb.suite.rescore"
local rewards = require "cawb.run.rewards"

local turns = math.tointeger(tonumber((...) or 100000))
local rounds = 5
local encode = core.json.encode
local folder <close> = setmetatable({ path = os.tmpname() }, { __close = function(self)
  os.execute("rm -rf '" .. self.path .. "'")
end })
os.remove(folder.path)

local function interval(x) return { median = x, lo = x - 0.01, hi = x + 0.01, rounds = 32, verdict = "same" } end
local function time(s) return { median = s, lo = 0.99 * s, hi = 1.01 * s, samples = 200 } end

local function result(number, speedup)
  return encode { number = number, name = "softmax/v5_registers", label = "THREADS=256",
    hash = ("a"):rep(64), ok = true,
    reward = 1, tunables = { threads = 256 }, variants = 8, time_s = time(1e-5), first = { time_s = time(1e-5) },
    seconds = { compile = 0.1, verify = 0.2, measure = 0.3, confirm = 0.1 },
    speedup = { eager = interval(speedup), compile = interval(speedup) },
    equal_error = { against = "eager", median = speedup, lo = speedup, hi = speedup, verdict = "same" },
    error = { worst = 1e-7, nrms = 1e-8, eager = { worst = 1e-7, nrms = 1e-8 } }, launch_bound_s = 1e-5,
    clock_hz = 1.98e9, throttled = 0 }
end

local store <close> = assert(core.store.open(folder.path))
assert(store:begin())
store:insert("candidates", { hash = "c", kind = "tier1", files = "{}" })
for i = 0, turns - 1 do
  local run = "run" .. i // 100
  if i % 100 == 0 then
    store:insert("runs", { id = run, started = i + 0.0, strategy = i // 100 % 2 == 0 and "a.lua" or "b.lua",
      task = "t.py", options = "{}" })
  end
  store:insert("turns", { run = run, number = i % 100 + 1, candidate = "c", ok = true, reward = 1.0,
    result = result(i % 100 + 1, 0.8 + (i % 17) / 20) })
end
assert(store:commit())

local function first_match(path, pattern)
  local f <close> = io.open(path)
  return f and (f:read "a"):match(pattern) or "unknown"
end

collectgarbage "generational"
print(("cawb %s, %s; %s; load of the machine when it began: %s"):format(core.version, os.date "!%Y-%m-%d",
  first_match("/proc/cpuinfo", "model name%s*: ([^\n]*)"), first_match("/proc/loadavg", "%S+")))
local walls, cpus, r = {}, {}, nil
for i = 1, rounds do
  r = nil
  collectgarbage()                        -- what the last one left is not this one's to clear
  local from, cpu = core.clock.now(), os.clock()
  r = assert(rescore.store(store, { reward = rewards.get "tiers-paper" }))
  walls[i], cpus[i] = core.clock.now() - from, os.clock() - cpu
end
table.sort(walls)
table.sort(cpus)
local mid = (rounds + 1) // 2
print(("%d turns judged again in %.2f s (%.2f to %.2f, %d times), %.2f s of one core; %d rewards change"):format(r.turns,
  walls[mid], walls[1], walls[rounds], rounds, cpus[mid], r.rewards))
