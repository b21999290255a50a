-- report_data: a store as one plain table, for a page, a pull request or a spreadsheet. Nothing
-- is judged here; what was never measured is absent.

local core = require "cawb.core"
local ledger = require "cawb.run.ledger"
local published = require "cawb.suite.published"
local report_answer = require "cawb.suite.report_answer"
local report_talk = require "cawb.suite.report_talk"
local report_turns = require "cawb.suite.report_turns"
local rows = require "cawb.suite.rows"
local suite_report = require "cawb.suite.report"

local M = {}

local decode, array = core.json.decode, core.json.array
local first_line, interval = report_turns.first_line, report_turns.interval

local function facts_of(store, run, turn)
  local e = store:query("SELECT facts FROM evaluations WHERE run = ? AND turn = ? AND number = 0", run, turn)[1]
  return e and e.facts and decode(e.facts) or {}
end

-- Where a task lies under the roof: what its floor was computed from, or what was counted.
local function roof_of(facts)
  local f = facts.floor
  if f and f.memory and f.read then
    local bytes = f.read + (f.written or 0)
    return { bytes = bytes, flops = f.flops, bandwidth = f.memory > 0 and bytes / f.memory or nil,
             peak = f.compute and f.compute > 0 and f.flops / f.compute or nil, source = f.source,
               precision = f.precision }
  end
  local p = facts.profile
  local r = p and p.roofline
  if r and r.intensity and p.metrics and p.metrics.dram_bytes then
    return { bytes = p.metrics.dram_bytes, flops = r.intensity * p.metrics.dram_bytes, source = r.flops_source }
  end
end

-- Of the best turn, or of the last before it of which enough is known.
local function roof(store, run, list)
  for i = #list, math.max(1, #list - 5), -1 do
    local r = roof_of(facts_of(store, run, list[i].n))
    if r then return r end
  end
  return #list > 6 and roof_of(facts_of(store, run, list[1].n)) or nil
end

-- The first turn that passed and the best one, where they were profiled.
local function profiles(store, run, list)
  local out = array {}
  for _, t in ipairs { list[1], #list > 1 and list[#list] or nil } do
    local p = facts_of(store, run, t.n).profile
    if p and p.metrics then
      local metrics = {}
      for name, value in pairs(p.metrics) do if type(value) == "number" then metrics[name] = value end end
      out[#out + 1] = { n = t.n, name = t.name, source = p.source, metrics = metrics,
        limiter = p.roofline and p.roofline.sentence }
    end
  end
  return out
end

-- "failed" in the store is told apart by what was tried.
local function status_of(store, id, ended, turns)
  if not ended and ledger.under_way(store:path(), id) then return "under way" end
  if not ended then
    local last = store:query("SELECT kind FROM events WHERE run = ? ORDER BY number DESC LIMIT 1", id)[1]
    return last and last.kind == "paused" and "interrupted" or "unfinished"
  end
  if ended.status ~= "failed" then return ended.status end
  return #turns > 0 and "rejected" or "no candidate"
end

local function baselines_of(store, run)
  local list = {}
  for _, b in ipairs(store:query("SELECT subject, median, lo, hi, json FROM baselines WHERE run = ?", run)) do
    local more = decode(b.json or "{}") or {}
    list[b.subject] = { time = b.median and { b.median, b.lo or b.median, b.hi or b.median },
                        nrms = more.error and more.error.nrms, failed = more.failed and first_line(more.failed, 200) }
  end
  return list
end

local function run_of(store, r, room)
  local turns = report_turns.read(store, r.id)
  local list = report_turns.lineage(turns)
  local ended = store:query("SELECT ended, status, best_turn, summary FROM run_ends WHERE run = ?", r.id)[1]
  local summary, best = ended and decode(ended.summary or "{}") or {}, list[#list]
  local talk, untold = report_talk.read(store, r.id, room)
  local run = { id = r.id, started = r.started, strategy = r.strategy, task = (r.task or "?"):match "([^/]+)$",
    device = r.device, modelled = r.modelled == 1, seed = r.seed, environment = r.environment,
    status = status_of(store, r.id, ended, turns), spent = rows.spent_of(store, r.id, ended),
    ended = summary.ended, reason = summary.reason and first_line(summary.reason), best = best and best.n,
    confinement = report_turns.confinement(turns), turns = turns, texts = report_turns.texts(store, turns, list, room),
    talk = talk, untold = untold, baselines = baselines_of(store, r.id), roof = roof(store, r.id, list),
    profiles = profiles(store, r.id, list) }
  run.answer = report_answer.of_run(run)
  return run
end

local function task_of(row)
  local best = row.data.best or {}
  local sp, floor = best.speedup or {}, best.floor and best.floor.seconds
  return { task = row.task, level = row.level, status = row.status, reason = row.reason and first_line(row.reason), run = row.run,
    seconds = row.ended - row.started, turns = row.data.turns or 0, name = best.name, label = best.label,
    time = interval(best.time_s), eager = interval(sp.eager), compile = interval(sp.compile), equal = interval(best.equal_error),
    against = best.equal_error and best.equal_error.against, nrms = best.error and best.error.nrms, libraries = best.libraries,
    bound_share = floor and best.time_s and floor / best.time_s.median or nil, odd = suite_report.suspicions(row)[1] }
end

local function suite_of(store, s)
  local list, tasks = rows.read(store, s.id), array {}
  for i, row in ipairs(list) do tasks[i] = task_of(row) end
  local name = tostring(s.about.strategy):match "([^/]+)%.lua$" or "this suite"
  local numbers, session = suite_report.numbers(list), rows.sessions(store, s.id)
  local beside = published.belongs(session.paths)
  local suite = { id = s.id, about = s.about, tasks = tasks, numbers = numbers, headings = suite_report.headings,
    rows = array(suite_report.rows(numbers, name, beside)), of_others = beside and suite_report.of_others or nil,
    footnote = suite_report.footnote, lines = suite_report.lines(list, name, session.paths), spent = rows.spent(list),
    title = report_answer.suite_title(name, s.about, session, #list), set_out = session.tasks }
  suite.answer = report_answer.of_suite(suite)
  return suite
end

--- All that a store holds, as { runs, suites, environments, cawb }. `only` is a run's id, or nil for all.
function M.read(store, only)
  local data = { runs = array {}, suites = array {}, environments = {}, cawb = core.version }
  local room = { bytes = report_turns.most_source_bytes, talk = report_talk.most_bytes }
  for _, r in ipairs(store:query("SELECT * FROM runs WHERE ?1 IS NULL OR id = ?1 ORDER BY started", only)) do
    data.runs[#data.runs + 1] = run_of(store, r, room)
  end
  for _, e in ipairs(store:query "SELECT hash, json FROM environments") do
    data.environments[e.hash] = (decode(e.json) or {}).manifest or {}
  end
  if not only then
    for _, s in ipairs(rows.suites(store)) do data.suites[#data.suites + 1] = suite_of(store, s) end
  end
  return data
end

return M
