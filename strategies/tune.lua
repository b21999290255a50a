-- tune: what compose makes, and a better schedule of it by measurement. The first turn is compose's own; then kernels are
-- timed with other options, cut apart and rewritten otherwise (settings.measurements times at most, or so many seconds);
-- the second turn is the best of that, judged as any candidate, also where Ctrl-C ended the search.

local cawb = require "cawb"
local compose = require "cawb.compose"

local function make_for(run)
  local device = run.task.device.info
  return function(schedule)
    return compose.make(run.task, { arch = run.options.compose.tensor_cores and device.arch or nil, memory = device.memory,
                                    rewrite = run.options.compose.rewrites, schedule = schedule })
  end
end

local function candidate_of(made, name)
  return cawb.candidate { source = made.source, plan = made.plan, options = made.options, name = name,
                          note = "schedule = " .. compose.schedule.text(made.schedule) }
end

-- Seconds of each kernel, or nil where it does not run.
local function measure_for(run)
  return function(made)
    local profile = cawb.profile(run.task, candidate_of(made, "trial"), { options = run.options, set = "quick" })
    return profile and profile.ok and profile.kernels and compose.times(made, profile) or nil
  end
end

local function evaluate(run, made, name)
  local turn = run:evaluate(candidate_of(made, name))
  if turn then run:record("schedule", { text = compose.schedule.text(made.schedule) }, turn.number) end
  return turn
end

-- From where the search starts: the text of a schedule, or compose's own.
local function first(settings)
  if settings.schedule == "" then return compose.schedule.default() end
  return compose.schedule.parse(settings.schedule)
end

local function begin(run, settings)
  local from, why = first(settings)
  if not from then return run:give_up(why) end
  local made
  made, why = make_for(run)(from)
  if not made then return run:give_up(why) end
  run.memory.from = from
  for _, line in ipairs(compose.table(made)) do run.report:note(line) end
  return evaluate(run, made, "compose")
end

local function search(run, settings)
  local ends = run:elapsed() + settings.seconds
  local model, lines = run.task.device.info.model or "device", {}
  local best, curve = compose.tune.search(run.memory.from, { make = make_for(run), measure = measure_for(run),
    measurements = settings.measurements, seed = settings.seed, records = settings.records and compose.records.known(model) or nil,
    learn = function(...) lines[#lines + 1] = compose.records.line(...) end,
    stop = function() return run:done() ~= nil or run:elapsed() > ends end })
  if settings.records then compose.records.keep(model, lines) end
  if not best or #curve == 0 then return nil end
  run.report:note(("%d measurements: kernels %.4g -> %.4g us; schedule = %s"):format(#curve, curve[1] * 1e6, best.seconds * 1e6,
    compose.schedule.text(best.schedule)))
  return best.seconds < curve[1] and best or nil
end

return {
  proposes = "kernels",
  settings = { measurements = 24, seconds = 10, seed = 1, schedule = "", records = true },
  step = function(run, settings)
    if not run.memory.from then return begin(run, settings) end
    run:patiently()                    -- Ctrl-C ends the search, and what it found is judged
    local best = search(run, settings)
    if best then evaluate(run, best.made, "compose/tuned") end
    return false
  end,
}
