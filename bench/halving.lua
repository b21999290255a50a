-- What measuring by successive halving is worth to the search among schedules (compose/tune.lua), at equal seconds: the best plans are
-- looked at again, the better half of them twice as often, and so on, within the same budget. Beside it: every plan looked at once, as `cawb tune`
-- does, and every plan three times.
--   cawb bench/halving.lua [SEEDS] [SECONDS,...] [NOISE,...]
-- Times are made up: an option's value is worth a factor that its name says, and every look is off by NOISE (a standard deviation). What a
-- plan costs was measured on an H100 (results/tune_halving.txt): BUILD seconds to make and build it, once, and LOOK for each look.

local composed = dofile "tests/support/composed.lua"
local compose = require "cawb.compose"
local core = require "cawb.core"
local sight = require "cawb.compose.tune.cache_key"

local BUILD, LOOK = 1.3, 0.28
local SPENT = 0.75                 -- of the budget: when halving begins
local FEW = 3                      -- plans beside the best one that it begins with

local seeds, budgets, noises = ...
seeds = math.tointeger(tonumber(seeds or 10))

local tasks = { composed.task("return torch.softmax(x * y, -1).mean(0), torch.tanh(x)", "[torch.randn(64, 512), torch.randn(512)]"),
                composed.task("return F.layer_norm(x, [512]).amax(0), torch.cumsum(x, 0)", "[torch.randn(64, 512)]") }

local function numbers(text)
  local list = {}
  for word in text:gmatch "[^,]+" do list[#list + 1] = assert(tonumber(word)) end
  return list
end

-- From 0 to 1, the same for the same text.
local function share(text) return tonumber(core.hash.sha256(text):sub(1, 8), 16) / 0xffffffff end

-- A kernel's time by its options and a little by its text.
local function time_of(made, kernel, salt)
  local key, t = compose.schedule.key(kernel), 1.0
  for name, value in pairs((made.schedule.kernels or {})[key] or {}) do t = t * (0.8 + 0.5 * share(salt .. name .. tostring(value))) end
  return t * (0.97 + 0.06 * share(salt .. (sight.of(kernel) or key)))
end

local function truth(made, salt)
  local times, sum = {}, 0.0
  for k, kernel in ipairs(made.kernels) do
    times[k] = time_of(made, kernel, salt)
    sum = sum + times[k]
  end
  return times, sum
end

local function normal() return math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random()) end

-- What so many looks say on average.
local function looked(made, salt, noise, looks)
  local times, list, sum = truth(made, salt), {}, 0.0
  for k, t in ipairs(times) do
    list[k] = t * math.exp(noise * normal() / math.sqrt(looks))
    sum = sum + list[k]
  end
  return list, sum
end

local kept = {}

local function make_for(task)
  kept[task] = kept[task] or {}
  return function(s)
    local text = compose.schedule.text(s)
    if kept[task][text] == nil then kept[task][text] = compose.make(tasks[task], { schedule = s }) or false end
    return kept[task][text] or nil
  end
end

local function by_sum(a, b) return a.sum < b.sum end

-- One more round: everybody so many times more, and the worse half is out.
local function halved(e, list, more)
  for _, c in ipairs(list) do
    local _, sum = looked(c.made, e.salt, e.noise, more)
    c.sum, c.n, e.spent = (c.sum * c.n + sum * more) / (c.n + more), c.n + more, e.spent + more * LOOK
  end
  table.sort(list, by_sum)
  for k = #list, #list // 2 + 1, -1 do list[k] = nil end
end

-- The best of a search or one of the plans that were nearly as good.
local function by_halving(e, best, seen)
  local _, sum = looked(best, e.salt, e.noise, 1)
  local list, more = { { made = best, sum = sum, n = 1 } }, 1
  e.spent = e.spent + LOOK
  table.sort(seen, by_sum)
  for k = 1, math.min(FEW, #seen) do list[#list + 1] = seen[k] end
  while #list > 1 and e.spent < e.budget do
    halved(e, list, more)
    more = 2 * more
  end
  return list[1].made
end

local function searched(e, task, seed, most, looks)
  local seen = {}
  local best = compose.tune.search({}, { make = make_for(task), seed = seed, measurements = 1000, stop = function() return e.spent >= most end,
    measure = function(made)
      e.spent = e.spent + BUILD + looks * LOOK
      local times, sum = looked(made, e.salt, e.noise, looks)
      seen[#seen + 1] = { made = made, sum = sum, n = looks }
      return times
    end })
  return best.made, seen
end

-- How many times faster than the first plan the one is that was taken, as a logarithm; and how many plans were measured.
local function run(task, seed, noise, budget, way)
  math.randomseed(seed * 7919 + task)
  local e = { salt = seed .. "/" .. task, spent = 0.0, noise = noise, budget = budget }
  local chosen, seen = searched(e, task, seed, way == "halving" and SPENT * budget or budget, way == "three" and 3 or 1)
  if way == "halving" then chosen = by_halving(e, chosen, seen) end
  local _, first = truth(make_for(task) {}, e.salt)
  local _, last = truth(chosen, e.salt)
  return math.log(first / last), #seen
end

local function all_of(noise, budget, way)
  local gains, plans = {}, 0
  for task = 1, #tasks do
    for seed = 1, seeds do
      local gain, count = run(task, seed, noise, budget, way)
      gains[#gains + 1], plans = gain, plans + count
    end
  end
  return gains, plans / #gains
end

local function mean(list)
  local sum = 0.0
  for _, x in ipairs(list) do sum = sum + x end
  return sum / #list
end

-- Mean and 95% interval of the ratio of two lists of logarithms, in pairs.
local function paired(a, b)
  local d, squares = {}, 0.0
  for k, x in ipairs(a) do d[k] = x - b[k] end
  local m = mean(d)
  for _, x in ipairs(d) do squares = squares + (x - m) ^ 2 end
  local half = 1.96 * math.sqrt(squares / #d / #d)
  return ("%.3fx [%.3f, %.3f]"):format(math.exp(m), math.exp(m - half), math.exp(m + half))
end

for _, budget in ipairs(numbers(budgets or "10,30")) do
  for _, noise in ipairs(numbers(noises or "0.01,0.04")) do
    local once, plans = all_of(noise, budget, "once")
    print(("%g s, noise %g%%: once %.3fx of %.1f plans"):format(budget, 100 * noise, math.exp(mean(once)), plans))
    for _, way in ipairs { "halving", "three" } do
      local gains, count = all_of(noise, budget, way)
      print(("  %s %.3fx of %.1f plans, over once %s"):format(way, math.exp(mean(gains)), count, paired(gains, once)))
    end
    io.stdout:flush()
  end
end
