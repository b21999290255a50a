-- judged: a kernel on a loaded task, as a page shows it: the verdict of `cawb judge` on small sizes; times, limiter and lines at the
-- task's own sizes, where the plan takes these.

local answer = require "cawb.door.answer"
local baselines = require "cawb.judge.time.baselines"
local candidates = require "cawb.judge.task.candidate"
local core = require "cawb.core"
local execute = require "cawb.judge.worker.execute"
local exercises = require "cawb.door.exercises"
local families = require "cawb.run.families"
local judge = require "cawb.judge.judge"
local listing = require "cawb.door.look.listing"
local marks = require "cawb.door.look.marks"
local measure = require "cawb.judge.time.measure"
local occupancy = require "cawb.door.look.occupancy"
local profile = require "cawb.judge.profile.profile"

local M = {}

--- What ends an evaluation that nobody waits for any more.
M.superseded = {}

local quick = { once = true, confirm = false, trials = 2, battery = {}, repeats = 0 }
local full = { once = true, confirm = false }

-- The candidate of a state, as a task wants it: what a ladder's family tells its kernels follows from the graph.
local function candidate_of(state, task)
  local before, defines = "", state.defines
  if state.family then before, defines = families.told(state.family, task.graph) end
  return candidates.new { source = state.source, plan = before .. state.plan, name = state.name or "kernel", defines = defines, options = state.options }
end

-- ---- the verdict

-- Raise M.superseded ahead of every run of the kernel, where nobody waits for it any more.
local function while_wanted(held, go, f, ...)
  local task = held.task
  function task:fresh_inputs(...)
    if not go() then error(M.superseded, 0) end
    return getmetatable(self).fresh_inputs(self, ...)
  end
  local got = table.pack(pcall(f, ...))
  task.fresh_inputs = nil
  if not got[1] then error(got[2], 0) end
  return table.unpack(got, 2, got.n)
end

local function verdict(held, c, how, go)
  return while_wanted(held, go, judge.judge, held.task, c, held.options, how)
end

-- ---- at the task's own sizes

-- Times there in place of those of the small sizes; nil where the plan takes the small ones only.
local function own_times(held, c, facts)
  local own = held.own
  local ready = own and execute.tunables(own, c, held.options)
  if not (ready and ready.ok) then return nil end
  local got = measure.measure(own, c, held.options, { against = held.options.measure.against })
  if not got or not got.ok then return nil end
  facts.time_s, facts.speedup, facts.floor = got.time_s, got.speedup, nil
  facts.equal_error = baselines.at_equal_error(own, got.speedup, facts.error, held.options.tolerance)
  return own
end

-- ---- what the page shows

local function heat_of(p)
  local list = core.json.array {}
  for i, l in ipairs(p and p.lines or {}) do
    if l.file == "kernel.cu" and l.line > 0 then
      list[#list + 1] = { line = l.line, share = l.share, samples = l.samples, units = l.stalls, traffic = l.traffic }
    end
    if i >= 4000 then break end
  end
  return list
end

-- How far each output is from the reference: of a kernel that passed, on inputs drawn once more.
local function pictures(held, c, facts)
  if facts.ok then
    local ran = execute.run(held.task, c, held.options)
    if not ran or not ran.ok then return nil end
  elseif facts.stage ~= "verify" then return nil end
  local list = core.json.array {}
  for i = 1, math.min(4, #held.task.outputs) do
    local drawn = held.task:ask { op = "picture", index = i, rows = 64, columns = 96 }
    if drawn then
      drawn.name = held.task.outputs[i].name or ("outputs[%d]"):format(i)
      drawn.cells, drawn.shape = core.json.array(drawn.cells), core.json.array(drawn.shape)
      list[#list + 1] = drawn
    end
  end
  return list
end

local function texts(rows)
  for i, row in ipairs(rows) do rows[i] = core.json.array(row) end
  return core.json.array(rows)
end

local function metric(p, name) return p and p.ok and p.metrics and p.metrics[name] or nil end

local function described(held, c, facts, p, at)
  local turn = { ok = facts.ok, stage = facts.stage, reason = facts.reason, time_s = facts.time_s, error = facts.error, speedup = facts.speedup,
                 candidate = c, facts = facts }
  local run = { turns = { turn }, task = at, ended = "finished" }
  local report = facts.report
  local out = { verdict = answer.word(run), sentence = answer.sentence(run), stage = facts.stage, reason = facts.reason, log = facts.log, rule = facts.rule,
    modelled = facts.modelled, label = c:label(), marks = core.json.array(marks.of(facts.reason or "", facts.log or "", report and report.race or "")) }
  if facts.ok then
    out.times, out.known = texts(answer.timing_rows(run)), texts(answer.known(run, p))
  elseif p and p.ok then out.known = texts { { "limiter", p.roofline.sentence } } end
  out.heat, out.occupancy = heat_of(p), p and p.ok and occupancy.of(p, at.device.figures) or nil
  out.counts = p and p.ok and { sectors = metric(p, "sectors_per_request"), wavefronts = metric(p, "wavefronts_per_request"),
    lanes = metric(p, "lanes_per_instruction"), dram_bytes = metric(p, "dram_bytes"), instructions = metric(p, "warp_instructions") } or nil
  return out
end

--- The sizes of a task in words.
function M.sizes(task)
  local words = {}
  for name, value in pairs(task.info.constants or {}) do
    if math.type(value) == "integer" and #words < 8 then words[#words + 1] = ("%s %d"):format(name, value) end
  end
  table.sort(words)
  return table.concat(words, ", ")
end

-- The goals of an exercise; a wrong kernel reaches none, whatever it counts.
local function goals_of(exercise, facts, metrics, sizes)
  local list = core.json.array(exercises.goals(exercise, metrics, sizes))
  for _, goal in ipairs(list) do
    if not facts.ok and goal.reached then goal.reached, goal.says = false, "it is reached once the result is right" end
  end
  return list
end

--- The kernel of `state` = { source, plan, family, defines, options, name } on a held task, as data. `how.depth`: "quick", two draws of
--- inputs, or "full", all that `cawb judge` looks at; `how.go()`: whether somebody waits for it still. Raises M.superseded, or returns nil,
--- message, name.
function M.of(held, state, how)
  local from = core.clock.now()
  if not how.go() then error(M.superseded, 0) end
  local c = candidate_of(state, held.task)
  local facts, message, name = verdict(held, c, how.depth == "full" and full or quick, how.go)
  if not facts then return nil, message, name end
  local drawn = pictures(held, c, facts)
  local there = held.own and candidate_of(state, held.own)
  local at, moved = held.task, c
  if facts.ok and there and own_times(held, there, facts) then at, moved = held.own, there end
  if not how.go() then error(M.superseded, 0) end
  local p = facts.stage ~= "compile" and facts.stage ~= "plan" and profile.profile(at, moved, held.options, { set = "quick", lines = true }) or nil
  local out = described(held, c, facts, p, at)
  out.code, out.pictures, out.depth = listing.of(facts.built), drawn, how.depth
  local exercise = held.entry.exercise
  out.goals = exercise and p and p.ok and goals_of(exercise, facts, p.metrics, at.info.constants) or nil
  out.notes = core.json.array { at == held.task and held.own and facts.ok and "timed at the sizes that are verified: the plan takes no others" or nil }
  out.verified, out.timed = M.sizes(held.task), M.sizes(at)
  out.task, out.device, out.seconds = held.task.name, held.task.device.info.model, core.clock.now() - from
  return out
end

--- The machine code of a kernel, line by line: { sass = } or { no_sass = why there is none }; or nil, message, name.
function M.sass(held, state)
  local built, message, name = execute.build(held.task, candidate_of(state, held.task), held.options)
  if not built then return nil, message, name end
  local sass, why = listing.sass(built.ok and built.cubin)
  return { sass = sass, no_sass = why }
end

--- Ready for M.of: the task's own sizes are asked for apart.
function M.hold(held)
  if held.own == nil then held.own, held.task.own = held.task.own or false, nil end
  held.options.profile = "none"
  return held
end

return M
