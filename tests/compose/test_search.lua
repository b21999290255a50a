-- The search for a better schedule, on times that are made up, so that what is best is known; and as a strategy.

local composed = dofile "tests/support/composed.lua"
local check = composed.check
local core = require "cawb.core"
local cawb = require "cawb"
local compose = require "cawb.compose"
local schedule = compose.schedule
local models = require "cawb.compose.tune.model"
local cache_key = require "cawb.compose.tune.cache_key"
local draw = dofile "bench/compose/tune/draw.lua"
local structure = require "cawb.compose.tune.structure"

local task <close> = assert(composed.task("return torch.softmax(x * y, -1).mean(0), torch.tanh(x)",
  "[torch.randn(64, 512), torch.randn(512)]"))

local function make(s) return compose.make(task, { schedule = s }) end

-- Seconds of each kernel by its options: some are better than what compose takes.
local worth = { vector = { [1] = 0.8, [2] = 0.6 }, lanes = { [64] = 0.7 }, across = { [64] = 0.9 } }

local function seconds(own)
  local t = 1.0
  for name, value in pairs(own or {}) do t = t * (worth[name] and worth[name][value] or 1) end
  return t
end

local function counted()
  local n = { asked = 0 }
  return n, function(made)
    n.asked = n.asked + 1
    local times = {}
    for k, kernel in ipairs(made.kernels) do times[k] = seconds((made.schedule.kernels or {})[schedule.key(kernel)]) end
    return times
  end
end

local function searched(search, measurements, seed)
  local n, measure = counted()
  local best, curve = search({}, { make = make, measure = measure, measurements = measurements, seed = seed })
  return best, curve, n.asked
end

check.test("it finds better options of all kernels at once, within its measurements", function()
  local best, curve, asked = searched(compose.tune.search, 30, 7)
  assert(asked <= 30, asked)
  check.equal(#curve, asked)
  for i = 2, #curve do assert(curve[i] <= curve[i - 1]) end
  assert(best.seconds < 0.75 * curve[1], ("%g of %g: %s"):format(best.seconds, curve[1], schedule.text(best.schedule)))
  check.equal(make(best.schedule).source, best.made.source)
end)

check.test("it beats drawing at as many measurements", function()
  local ahead, rounds = 0, 8
  for seed = 1, rounds do
    local mine, others = searched(compose.tune.search, 16, seed * 101), searched(draw.walks, 16, seed * 101)
    if mine.seconds < others.seconds then ahead = ahead + 1 elseif mine.seconds > others.seconds then ahead = ahead - 1 end
  end
  assert(ahead >= rounds // 2, ("%d more of %d"):format(ahead, rounds))
end)

check.test("the curve is the best so far, also while a slower way of making a kernel is looked into", function()
  local product <close> = assert(composed.task("return torch.tanh(x @ y)", "[torch.randn(64, 64), torch.randn(64, 64)]"))
  local asked = 0
  local best, curve = compose.tune.search({}, { measurements = 12, seed = 5,
    make = function(s) return compose.make(product, { schedule = s }) end,
    measure = function(made)
      asked = asked + 1
      local times = {}
      for k, kernel in ipairs(made.kernels) do times[k] = kernel.loop == "simt" and 2.0 or 1.0 end
      return times
    end })
  check.equal(#curve, asked)
  for i = 2, #curve do assert(curve[i] <= curve[i - 1], ("%g behind %g"):format(curve[i], curve[i - 1])) end
  check.equal(curve[#curve], best.seconds)
end)

check.test("a plan whose kernels were all measured in others is known at no cost, with the last measurement", function()
  local least
  local function measure(made)         -- every other option makes a kernel slower
    local times = {}
    for k, kernel in ipairs(made.kernels) do
      local own, key = (made.schedule.kernels or {})[schedule.key(kernel)], schedule.key(kernel)
      times[k] = own and 0.5 + tonumber(core.hash.sha256(compose.records.text(own)):sub(1, 2), 16) / 256 or 1.0
      if not made.schedule.cuts then least[key] = math.min(least[key] or math.huge, times[k]) end
    end
    return times
  end
  for n = 2, 9 do
    least = {}
    local best, curve = compose.tune.search({}, { make = make, measure = measure, measurements = n, seed = 3 })
    local sum = 0.0
    for _, kernel in ipairs(make {}.kernels) do sum = sum + least[schedule.key(kernel)] end
    assert(best.seconds <= sum / 0.99, ("%d measurements: %g, its kernels %g"):format(n, best.seconds, sum))
    check.equal(curve[#curve], best.seconds, n)
  end
end)

check.test("a text that is launched otherwise is another kernel", function()
  local product <close> = assert(composed.task("return x @ y", "[torch.randn(64, 512), torch.randn(512, 64)]"))
  local function make_product(s) return compose.make(product, { schedule = s }) end
  local texts, plans = {}, {}
  for _, splits in ipairs { 4, 8 } do
    local made = make_product { kernels = { ["1.1"] = { loop = "simt", splits = splits } } }
    texts[made.source], plans[made.plan] = true, true
  end
  local source = next(texts)
  assert(source and not next(texts, source) and next(plans, next(plans)), "one text, two plans")
  local best = compose.tune.search({}, { make = make_product, measurements = 60, seed = 1, measure = function(made)
    local own = (made.schedule.kernels or {})["1.1"] or {}
    return { own.loop == "simt" and (own.splits == 8 and 0.5 or 0.9) or 1.0 }
  end })
  check.equal(best.schedule.kernels["1.1"].splits, 8)
end)

check.test("it goes on when every single edit was tried, and a measurement that fails counts", function()
  local rows <close> = assert(composed.task("return torch.softmax(x, -1)", "[torch.randn(64, 512)]"))
  local function make_rows(s) return compose.make(rows, { schedule = s }) end
  local singles, texts, first = 0, {}, make_rows {}
  for _, edit in ipairs(schedule.legal(first)) do
    local made = make_rows(schedule.apply({}, edit))
    local text = made and made.source .. made.plan
    if text and not texts[text] and text ~= first.source .. first.plan then singles, texts[text] = singles + 1, true end
  end
  local asked = 0
  local _, curve = compose.tune.search({}, { make = make_rows, measurements = singles + 9, seed = 3, measure = function(made)
    asked = asked + 1
    if asked % 4 == 0 then return nil end
    local times = {}
    for k in ipairs(made.kernels) do times[k] = 1.0 end
    return times
  end })
  assert(asked > singles + 1, ("%d measurements, %d single edits"):format(asked, singles))
  check.equal(#curve, asked)
end)

check.test("the same seed searches alike; what changes nothing is not in the schedule", function()
  local a, b = searched(compose.tune.search, 12, 3), searched(compose.tune.search, 12, 3)
  check.equal(schedule.text(a.schedule), schedule.text(b.schedule))
  for key, own in pairs(a.schedule.kernels or {}) do
    for name in pairs(own) do
      local less = make(schedule.apply(a.schedule, { kernel = key, name = name }))
      assert(less.source ~= a.made.source or less.plan ~= a.made.plan, key .. " " .. name)
    end
  end
end)

check.test("kernels have times, also where the plan fills memory for them", function()
  local product <close> = assert(composed.task("return torch.tanh(x @ y)", "[torch.randn(256, 512), torch.randn(512, 136)]"))
  local made = assert(compose.make(product, { arch = "sm_90a", least = 1 << 24 }))
  assert(made.plan:find "memset", "a plan that fills memory")
  local p = assert(cawb.profile(product, cawb.candidate { source = made.source, plan = made.plan, options = made.options },
    { options = cawb.defaults, set = "quick" }))
  local times = assert(compose.times(made, p), "times of single kernels")
  for k in ipairs(made.kernels) do assert(times[k] > 0, k) end
  check.matches(compose.table(made, p)[1], "modelled time")
end)

check.test("a plan is measured for a kernel that was not measured before, a library's call among them; none is made twice", function()
  local product <close> = assert(composed.task("return torch.softmax(x @ y, -1), torch.tanh(y)", "[torch.randn(64, 64), torch.randn(64, 256)]"))
  local known, texts, made_twice, asked = {}, {}, 0, 0
  compose.tune.search({}, { measurements = 12, seed = 2,
    make = function(s)
      local text = schedule.text(s)
      made_twice = made_twice + (texts[text] and 1 or 0)
      texts[text] = true
      return compose.make(product, { schedule = s })
    end,
    measure = function(made)
      local times, fresh = {}, 0
      for k, kernel in ipairs(made.kernels) do
        local name = assert(cache_key.of(kernel), "a kernel without a name")
        fresh = fresh + (known[name] and 0 or 1)
        known[name], times[k] = true, seconds((made.schedule.kernels or {})[schedule.key(kernel)])
      end
      asked = asked + 1
      assert(fresh > 0, "measured before: " .. schedule.text(made.schedule))
      return times
    end })
  assert(asked > 6, asked)
  check.equal(made_twice, 0)
end)

check.test("edits that change nothing are in no mixture", function()
  local ranking = require "cawb.compose.tune.ranking"
  local one = { dull = {}, tried = {}, near = {}, own = {}, best = 0.0, model = models.new() }
  local edits = { { name = "a", value = 1 }, { name = "a", value = 2 }, { name = "b", value = 1 }, { name = "c", value = true } }
  ranking.dull(one, { a = 2 })
  ranking.dull(one, { b = 1, c = true })             -- two at once say nothing of either
  check.equal(#ranking.telling(one, edits), 3)
  local list = ranking.ranked(one, edits, function(n) return math.random(n) end)
  local singles = 0
  for _, entry in ipairs(list) do
    local is_single = next(entry.own, next(entry.own)) == nil
    singles = singles + (is_single and 1 or 0)
    assert(is_single or entry.own.a ~= 2, "a = 2 in a mixture")
  end
  check.equal(singles, 4, "each alone is a candidate all the same, until it was tried")
  assert(#list > 4, "mixtures")
end)

check.test("a model tells which option it was that paid, and a kernel's own time says more than that of one like it", function()
  local model = models.new()
  local unknown = model:gain({ a = 1 }, 0.0)
  model:learn({ a = 1, b = 1 }, -0.6)
  model:learn({ b = 1 }, 0.2)
  assert(model:gain({ a = 1 }, 0.0) > 0.4, model:gain({ a = 1 }, 0.0))
  assert(model:gain({ b = 1 }, 0.0) < 0.2 * unknown)
  assert(model:gain({ a = 1 }, -0.8) < model:gain({ a = 1 }, 0.0) / 4, "what is had already is no gain")
  local far, own = models.new(), models.new()
  far:learn({ a = 1 }, -0.5, 0.1)
  own:learn({ a = 1 }, -0.5)
  assert(own:gain({ a = 1 }, 0.0) > 2 * far:gain({ a = 1 }, 0.0) and far:gain({ a = 1 }, 0.0) > unknown)
  check.equal(models.new():gain({}, 0.0), 0.0)
  assert(math.abs(models.gain(-0.5, 1e-6, 0.0) - 0.5) < 1e-5 and models.gain(0.5, 1e-3, 0.0) < 1e-6)
end)

check.test("a cut promises less where it writes more, and less once others did not pay", function()
  local joined <close> = assert(composed.task("return torch.softmax(torch.tanh(x) * y, -1).mean(0)", "[torch.randn(64, 512), torch.randn(512)]"))
  local made, edit = compose.make(joined, {}), nil
  for _, e in ipairs(schedule.legal(made)) do edit = e.cut and e or edit end
  local list = {}
  for k in ipairs(made.kernels) do list[k] = 1e-6 end
  local function best() return { made = made, list = list, seconds = #list * 1e-6 } end
  local model, heavy = structure.model {}, best()
  local hope = structure.hope(heavy, edit, model)
  for label, bytes in pairs(heavy.bytes) do heavy.bytes[label] = 8 * bytes end
  local with_more = structure.hope(heavy, edit, model)
  structure.learn(model, edit, structure.change(best(), edit, 5e-7))
  local later = structure.hope(best(), edit, model)
  assert(hope > 0 and with_more < 0.95 * hope and later < 0.95 * hope, ("%g, %g, %g"):format(hope, with_more, later))
end)

check.test("beside a cut the other kernels try their next options", function()
  local both = 0
  compose.tune.search({}, { make = make, measurements = 24, seed = 5, measure = function(made)
    local times = {}
    for k in ipairs(made.kernels) do times[k] = 1.0 end
    both = both + (made.schedule.cuts and made.schedule.kernels and 1 or 0)
    return times
  end })
  assert(both > 0, "no measurement had both")
end)

check.test("it stops when it is told, and where nothing runs it says so", function()
  local best, curve = compose.tune.search({}, { make = make, measure = select(2, counted()), measurements = 9, stop = function() return true end })
  check.equal(#curve, 1)
  check.equal(schedule.text(best.schedule), "{}")
  check.equal(compose.tune.search({}, { make = make, measure = function() end, measurements = 9 }), nil)
end)

check.test("once the time is over it makes no further plans, but the first one without needless options", function()
  local made_late, over = 0, false
  compose.tune.search({}, { measurements = 9, stop = function() return over end,
    make = function(s)
      made_late = made_late + (over and 1 or 0)
      return make(s)
    end,
    measure = function(made)
      over = true
      return select(2, counted())(made)
    end })
  assert(made_late <= 2, made_late)
end)

check.test("a kernel that takes no time in a call is in no record", function()
  local learned = 0
  local best = compose.tune.search({}, { make = make, measurements = 8, seed = 4,
    learn = function(_, _, change)
      assert(change == change and math.abs(change) < 1e300, tostring(change))
      learned = learned + 1
    end,
    measure = function(made)
      local times = select(2, counted())(made)
      times[1] = 0.0
      return times
    end })
  assert(best and learned > 0, learned)
end)

check.test("what was measured elsewhere is asked for first, of kernels that are alike", function()
  local records = compose.records
  local made, known = make {}, records.new()
  for _, kernel in ipairs(made.kernels) do
    known:add(records.about(kernel), { lanes = 64 }, math.log(0.7))
    known:add(records.about(kernel), { lanes = 128 }, math.log(1.4))
  end
  local first
  compose.tune.search({}, { make = make, measurements = 2, records = known, seed = 1, measure = function(m)
    first = m.schedule
    local times = {}
    for k in ipairs(m.kernels) do times[k] = 1.0 end
    return times
  end })
  assert(schedule.text(first):find("lanes = 64", 1, true), schedule.text(first))
  local near = known:near(records.about(made.kernels[1]))
  local far = records.about(made.kernels[1])
  far.written = far.written + 20
  assert(near[1].weight > 2 * known:near(far)[1].weight, "what is unlike says little")
end)

check.test("records are lines of a file that the next search reads; lines that are none are passed over", function()
  local records = compose.records
  local about = { by = "rows", loop = "simt", written = 6.0, read = 15.0, row = 9.0, members = 2.0 }
  local path = check.write(check.folder() .. "/r.jsonl", records.line(about, { { own = { lanes = 64, stay = true }, change = -0.5 } })
    .. "no line\n" .. records.line(about, { { own = {}, change = 0.0 } }))
  local near = records.new():read(path):near(about)
  check.equal(#near, 2)
  check.equal(records.text(near[1].own), "lanes=64 stay=true")
  check.equal(near[1].change, -0.5)
  check.equal(#records.new():read(path .. "none"):near(about), 0)
end)

return check.done()
