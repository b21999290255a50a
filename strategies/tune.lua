-- tune: what compose makes, and a better schedule of it by measurement. The first turn is compose's own, or what the last search of
-- this task on this kind of device ended with; then kernels are timed with other options, cut apart and rewritten otherwise (settings.measurements times at most, or so many seconds);
-- the second turn is the best of that, judged as any candidate, also where Ctrl-C ended the search.

local cawb = require "cawb"
local compose = require "cawb.compose"

local function make_for(run)
  local device = run.task.device.info
  return function(schedule)
    return compose.make(run.task, { arch = device.arch, tensor_cores = run.options.compose.tensor_cores, memory = device.memory,
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

-- Of the text of a schedule, which may be missing, and those of others what is one.
local function parsed(own, others)
  local schedules = { own and compose.schedule.parse(own) }
  for _, text in ipairs(others) do schedules[#schedules + 1] = compose.schedule.parse(text) end
  return schedules
end

local function model_of(run) return run.task.device.info.model or "device" end

-- What is made first: of the schedule that is asked for, of that which the last search of this task ended with, or of compose's own. The
-- search measures the first or the last of these, and then what was best elsewhere.
local function first(run, settings)
  local make, memory = make_for(run), run.memory
  memory.from, memory.hints = compose.schedule.default(), {}
  if settings.schedule ~= "" then
    local from, why = compose.schedule.parse(settings.schedule)
    if not from then return nil, why end
    memory.from = from
    return make(from)
  end
  local own, others = nil, {}
  if settings.records then own, others = compose.choices.schedules(run.task, model_of(run)) end
  memory.hints = parsed(own, others)
  local last = own and compose.schedule.parse(own)
  local made = last and make(last)
  if not made then return make(memory.from) end
  run.report:note("begins where the last search of this task ended: schedule = " .. own)
  return made
end

local function begin(run, settings)
  local made, why = first(run, settings)
  if not made then return run:give_up(why) end
  run.memory.made = made
  for _, line in ipairs(compose.table(made)) do run.report:note(line) end
  return evaluate(run, made, "compose")
end

-- What a search found out, for the next one and for the run's own record.
local function keep(run, settings, best, lines, seen)
  if #seen > 0 then run:record("measured", { kernels = seen }) end
  if not settings.records then return end
  if best then lines[#lines + 1] = compose.choices.line(run.task, compose.schedule.text(best.schedule), best.seconds) end
  compose.choices.keep(model_of(run), lines)
end

-- The best of a search, where it is another one than the first turn.
local function search(run, settings)
  local ends, lines, seen, memory = run:elapsed() + settings.seconds, {}, {}, run.memory
  local best, curve = compose.tune.search(memory.from, { make = make_for(run), measure = measure_for(run), hints = memory.hints,
    measurements = settings.measurements, seed = settings.seed, records = settings.records and compose.choices.records(model_of(run)) or nil,
    learn = function(about, own, change)
      lines[#lines + 1] = compose.records.line(about, { { own = own, change = change } })
      seen[#seen + 1] = { about = about, options = compose.records.text(own), change = change }
    end,
    stop = function() return run:done() ~= nil or run:elapsed() > ends end })
  keep(run, settings, best, lines, seen)
  if not best or #curve == 0 then return nil end
  run.report:note(("%d measurements: kernels %.4g -> %.4g us; schedule = %s"):format(#curve, curve[1] * 1e6, best.seconds * 1e6,
    compose.schedule.text(best.schedule)))
  return (best.made.source ~= memory.made.source or best.made.plan ~= memory.made.plan) and best or nil
end

return {
  proposes = "kernels",
  settings = { measurements = 24, seconds = 10, seed = 1, schedule = "", records = true },
  step = function(run, settings)
    if not run.memory.made then return begin(run, settings) end
    run:patiently()                    -- Ctrl-C ends the search, and what it found is judged
    local best = search(run, settings)
    if best then evaluate(run, best.made, "compose/tuned") end
    return false
  end,
}
