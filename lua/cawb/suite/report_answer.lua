-- report_answer: what a report says first. Of a run: its best candidate, the speed-up at equal error, how sure that
-- is, and what holds it back; of a suite: what was run, and how it ended. From report_data's tables alone.

local baseline_names = require "cawb.base.baseline_names"
local display = require "cawb.base.display"
local stats = require "cawb.base.stats"
local suite_report = require "cawb.suite.report"

local M = {}

local pytorch = { eager = "eager PyTorch", compile = "torch.compile" }

--- A baseline as a sentence calls it.
function M.called(kind) return pytorch[kind] or baseline_names.label(kind) end

-- Without an interval it is a single value.
local function span(t) return t and { median = t[1], lo = t[2], hi = t[3], samples = t[2] == t[3] and 1 or nil } end

local function speedup(t) return display.speedup(span(t)) end

local function time(t) return display.interval(span(t)) end

--- The turn that is the run's best, or nil.
function M.best(run)
  for _, t in ipairs(run.turns) do if t.n == run.best then return t end end
end

-- "faster", "slower", "same", "undecided": as measured; of modelled times, which have no interval, by the margin.
local function verdict_of(t)
  if t.verdict then return t.verdict end
  if not (t.equal[2] and t.equal[3]) then return "undecided" end
  return stats.verdict(span(t.equal), stats.margin)
end

local sentences = {
  faster = "%s as fast as %s",
  same = "%s: no faster and no slower than %s",
  slower = "right, but only %s as fast as %s",
  undecided = "%s; whether it is faster than %s is not decided",
}

local function nothing(run)
  if #run.turns == 0 then return "no candidate was tried" .. (run.reason and ": " .. run.reason or "") end
  local many = #run.turns
  return many == 1 and "the only candidate was rejected" or ("none of %d candidates passed"):format(many)
end

local function headline(run, t)
  local so_far = run.status == "under way" and "so far: " or ""
  if not t then return so_far .. nothing(run) end
  if not t.equal then return so_far .. "right; no baseline was timed beside it" end
  return so_far .. sentences[verdict_of(t)]:format(speedup(t.equal), M.called(t.against)
    .. ", the fastest baseline that is no less accurate") .. (run.modelled and " (modelled)" or "")
end

local function named(t) return (t.name or "candidate") .. (t.label and " " .. t.label or "") end

local function times(run, t)
  local parts = { ("turn %d, %s: %s%s"):format(t.n, named(t), t.time and time(t.time) or "-", run.modelled and " modelled" or "") }
  for _, kind in ipairs { "eager", "compile" } do
    local b = run.baselines[kind]
    if b and b.time then parts[#parts + 1] = ("%s %s"):format(M.called(kind), time(b.time)) end
  end
  return table.concat(parts, "; ")
end

-- Whether a second look was taken, and what the first one had said.
local function confirmed(t)
  if not t.first then return "" end
  return ("; evaluated again by a fresh worker on fresh inputs, %s at first"):format(time(t.first))
end

local function sure(run, t)
  if run.modelled then
    return ("how sure: modelled, not measured, so there is no interval; a difference below %.0f%% is called none%s"):format(
      100 * stats.margin, confirmed(t))
  elseif not (t.equal and t.equal[2]) then return "how sure: too few rounds for an interval" .. confirmed(t) end
  return ("how sure: measured; 95%% interval %.2fx to %.2fx%s%s"):format(t.equal[2], t.equal[3],
    t.rounds and (", %d rounds"):format(t.rounds) or "", confirmed(t))
end

local function error_words(run, t)
  if not t.nrms then return nil end
  local words = { ("error: %.1e, normalised rms against float64"):format(t.nrms) }
  for _, kind in ipairs { "eager", "compile" } do
    local b = run.baselines[kind]
    local nrms = b and b.nrms or kind == "eager" and t.eager_nrms
    if nrms then words[#words + 1] = ("%s's is %.1e"):format(M.called(kind), nrms)
    elseif b and run.modelled then words[#words + 1] = M.called(kind) .. " is not run here, and its error is taken to be no larger than the kernel's" end
  end
  return table.concat(words, "; ")
end

local function bound_words(t)
  if t.limiter then return "what bounds it: " .. t.limiter end
  local first = t.bound and t.bound[1]
  if not (first and t.time) then return nil end
  return ("what bounds it: %s, %.0f%% of its time"):format(first[1], 100 * first[2] / t.time[1])
end

local function spent(s)
  if not s or (s.replies or 0) == 0 then return nil end
  if (s.tokens or 0) == 0 then return ("model: no reply to %d request%s"):format(s.replies, s.replies == 1 and "" or "s") end
  return ("model: %s%s"):format(display.replies(s.replies, s.tokens),
    (s.dollars or 0) > 0 and (", $%.2f"):format(s.dollars) or "")
end

local function last_reason(run)
  local last = run.turns[#run.turns]
  return last and last.reason and ("the last one, turn %d: rejected at %s: %s"):format(last.n, last.stage, last.reason)
end

--- A run of report_data: { headline =, good = whether it is a faster one, lines = { sentences } }.
function M.of_run(run)
  local t, lines = M.best(run), {}
  local function add(text) if text then lines[#lines + 1] = text end end
  if t then
    add(times(run, t))
    add(sure(run, t))
    add(error_words(run, t))
    add(bound_words(t))
    add(t.told)
  else add(last_reason(run)) end
  add(spent(run.spent))
  return { headline = headline(run, t), good = t and t.equal and verdict_of(t) == "faster" or false, lines = lines }
end

-- ---- suites

--- A suite is called by its strategy, by what its tasks came from, and by its device.
function M.suite_title(name, about, session, done)
  local from = {}
  for i, path in ipairs(session.paths) do from[i] = path:gsub("/+$", ""):match "([^/]+)$" end
  local devices = #session.devices > 0 and table.concat(session.devices, ", ") or about.device
  return ("%s on %s%s%s"):format(name, #from > 0 and table.concat(from, ", ") or ("%d tasks"):format(done),
    #from > 0 and (", %d task%s"):format(done, done == 1 and "" or "s") or "", devices and ", " .. devices or "")
end

local function mean_words(b)
  if not b.lo then return ("%.2fx"):format(b.value) end
  return ("%.2fx [%.2f, %.2f]"):format(b.value, b.lo, b.hi)
end

local function rate_words(w) return ("%d of %d (%.0f%% [%.0f, %.0f])"):format(w.k, w.n, 100 * w.rate, 100 * w.lo, 100 * w.hi) end

-- What the suite is held against: the fastest baseline at equal error, where that is known, else compile, else eager.
local function compared(g)
  for _, how in ipairs { { "equal_error", "the fastest baseline that is no less accurate" }, { "compile", "torch.compile" },
                         { "eager", "eager PyTorch" } } do
    if g.geomean[how[1]] then return how[1], how[2] end
  end
end

local function suite_headline(g)
  local kind, against = compared(g)
  if not kind then return g.n == 0 and "no task is done yet" or ("none of %d tasks has a right candidate"):format(g.n) end
  local many = g.geomean[kind].n
  return ("%s as fast as %s, geometric mean of the %d of %d tasks with a right candidate that was timed"):format(
    mean_words(g.geomean[kind]), against, many, g.n), (g.geomean[kind].lo or 0) > 1
end

local function extremes(s)
  local least, most
  for _, t in ipairs(s.tasks) do
    if t.equal and not t.odd and t.status == "pass" then
      if not most or t.equal[1] > most.equal[1] then most = t end
      if not least or t.equal[1] < least.equal[1] then least = t end
    end
  end
  if not most or most == least then return nil end
  return ("at equal error most is won by %s, %s, and least by %s, %s"):format(most.task, speedup(most.equal), least.task, speedup(least.equal))
end

local function fates(g) return g.n > 0 and "what became of the tasks: " .. suite_report.fates(g.statuses) or nil end

local function suite_rates(g)
  local kind, against = compared(g)
  local wins = kind and g.faster[kind]
  return ("right: %s%s"):format(rate_words(g.pass), wins and ("; faster than %s by 5%%: %s"):format(against, rate_words(wins)) or "")
end

--- A suite of report_data, likewise.
function M.of_suite(s)
  local g, lines = s.numbers.groups[#s.numbers.groups], {}
  local function add(text) if text then lines[#lines + 1] = text end end
  local headline, good = suite_headline(g)
  if s.numbers.modelled and compared(g) then headline = headline .. " (modelled)" end
  if g.n > 0 then add(suite_rates(g)) end
  add(s.numbers.modelled and "how sure: modelled, not measured: such times rank candidates and are no result"
    or "how sure: measured; intervals of 95%, of rates by Wilson, of means by a bootstrap over the tasks")
  add(extremes(s))
  add(fates(g))
  if s.set_out > #s.tasks then add(("%d of %d tasks have ended so far"):format(#s.tasks, s.set_out)) end
  if #s.numbers.suspicious > 0 then add(("of the right ones suspicious, and in no average: %d"):format(#s.numbers.suspicious)) end
  add(spent(s.spent))
  return { headline = headline, good = good or false, lines = lines }
end

return M
