-- report_data: a store as one plain table, for a page, a pull request or a spreadsheet. Nothing
-- is judged here; what was never measured is absent.

local core = require "cawb.core"
local ledger = require "cawb.run.ledger"
local rows = require "cawb.suite.rows"
local suite_report = require "cawb.suite.report"

local M = {}

local decode, array = core.json.decode, core.json.array

M.most_sources = 60             -- texts of one run that a page carries: those that were best for a while
M.most_source_bytes = 6 << 20   -- and of all runs

local function first_line(text, most)
  local line = tostring(text or ""):match "[^\n]*":gsub(":$", "")   -- what it announced is further down
  return #line > most and line:sub(1, most) .. "..." or line
end

-- A median and the ends of its interval; the median alone where rounds were too few for one.
local function interval(t)
  if t and t.lo == 0 and not t.hi then return { t.median } end
  return t and { t.median, t.lo or t.median, t.hi or t.median }
end

-- What is told of a candidate and rejects nobody.
local function told(r)
  local words = {}
  if r.denormals == "flushed" then words[1] = "flushes denormal numbers to zero" end
  if r.repeatable == false then words[#words + 1] = "its bits differ from run to run" end
  local sizes = r.sizes or {}
  if (sizes.wrong or 0) > 0 then
    words[#words + 1] = ("%s: wrong on %d other sizes, right on %d"):format(sizes.fitted and "fitted to the size" or "not right on every size",
      sizes.wrong, sizes.right)
  end
  return #words > 0 and table.concat(words, "; ") or nil
end

-- One turn, from its own row alone.
local function turn_of(row)
  local r = decode(row.result)
  local s, spent = r.speedup or {}, 0.0
  for _, seconds in pairs(r.seconds or {}) do spent = spent + seconds end
  return { n = row.number, at = row.started, name = r.name, label = r.label ~= "" and r.label or nil,
    hash = row.candidate,
    ok = row.ok == 1, stage = row.stage, reason = row.reason and first_line(row.reason, 300), reward = row.reward,
    note = r.note and first_line(r.note, 200), time = interval(r.time_s), eager = interval(s.eager),
      compile = interval(s.compile),
    equal = interval(r.equal_error), against = r.equal_error and r.equal_error.against,
    nrms = r.error and r.error.nrms, worst = r.error and r.error.worst,
      eager_nrms = r.error and r.error.eager and r.error.eager.nrms,
    spent = spent, limiter = r.profile and r.profile.limiter, told = told(r), jail = r.jail, lacks = r.jail_lacks }
end

-- What confined the candidates of a run, and what that does not hold on its machine: each said once.
local function confinement(turns)
  local lacks, seen, jail = array {}, {}, nil
  for _, t in ipairs(turns) do
    jail = jail or t.jail
    for _, lack in ipairs(t.lacks or {}) do
      if not seen[lack] then lacks[#lacks + 1] = lack end
      seen[lack] = true
    end
    t.jail, t.lacks = nil, nil
  end
  return jail and { jail = jail, lacks = lacks }
end

local function is_better(a, b)
  if not a.ok then return false end
  if not b or a.reward ~= b.reward then return not b or (a.reward or 0) > (b.reward or 0) end
  return a.time and b.time and a.time[1] < b.time[1] or false
end

local function source_of(store, hash)
  local c = store:query("SELECT files FROM candidates WHERE hash = ?", hash)[1]
  if not c then return nil end
  for name, file in pairs(decode(c.files)) do
    if name == "kernel.cu" or name:match "%.py$" then return store:read(file) end
  end
end

-- The turns that were the best when they came, with their texts: how the best came to be.
local function lineage(store, turns, room)
  local best, list = nil, {}
  for _, t in ipairs(turns) do
    if is_better(t, best) then
      best = t
      list[#list + 1] = t
    end
  end
  local texts = array {}
  for i, t in ipairs(list) do
    t.best = true
    if i > #list - M.most_sources and room.bytes > 0 then
      local text = source_of(store, t.hash)
      if text then
        room.bytes = room.bytes - #text
        texts[#texts + 1] = { n = t.n, name = t.name, label = t.label, text = text }
      end
    end
  end
  return texts, list
end

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

local function run_of(store, r, room)
  local turns = array {}
  for i, row in ipairs(store:query("SELECT number, started, candidate, ok, stage, reason, reward, result FROM turns "
      .. "WHERE run = ? ORDER BY number", r.id)) do turns[i] = turn_of(row) end
  local texts, list = lineage(store, turns, room)
  local ended = store:query("SELECT ended, status, best_turn, summary FROM run_ends WHERE run = ?", r.id)[1]
  local summary, best = ended and decode(ended.summary or "{}") or {}, list[#list]
  local baselines = {}
  for _, b in ipairs(store:query("SELECT subject, median, lo, hi, json FROM baselines WHERE run = ?", r.id)) do
    local more = decode(b.json or "{}") or {}
    baselines[b.subject] = { time = b.median and { b.median, b.lo or b.median, b.hi or b.median },
                             nrms = more.error and more.error.nrms,
                               failed = more.failed and first_line(more.failed, 200) }
  end
  return { id = r.id, started = r.started, strategy = r.strategy, task = (r.task or "?"):match "([^/]+)$",
    device = r.device,
    modelled = r.modelled == 1, seed = r.seed, environment = r.environment,
    status = status_of(store, r.id, ended, turns),
    ended = summary.ended, reason = summary.reason and first_line(summary.reason, 300), best = best and best.n,
    confinement = confinement(turns), turns = turns, sources = texts, baselines = baselines, roof = roof(store, r.id, list),
    profiles = profiles(store, r.id, list) }
end

local function suite_of(store, s)
  local list = rows.read(store, s.id)
  local tasks = array {}
  for i, row in ipairs(list) do
    local best = row.data.best or {}
    local sp = best.speedup or {}
    tasks[i] = { task = row.task, level = row.level, status = row.status,
      reason = row.reason and first_line(row.reason, 300),
      run = row.run, seconds = row.ended - row.started, turns = row.data.turns or 0, name = best.name,
      label = best.label, time = interval(best.time_s),
      eager = interval(sp.eager), compile = interval(sp.compile), equal = interval(best.equal_error),
      nrms = best.error and best.error.nrms, libraries = best.libraries, odd = suite_report.suspicions(row)[1] }
  end
  local name = tostring(s.about.strategy):match "([^/]+)%.lua$" or "this suite"
  local numbers = suite_report.numbers(list)
  return { id = s.id, about = s.about, tasks = tasks, numbers = numbers, headings = suite_report.headings,
           rows = array(suite_report.rows(numbers, name)), footnote = suite_report.footnote,
             lines = suite_report.lines(list, name) }
end

--- All that a store holds, as { runs, suites, environments, cawb }. `only` is a run's id, or nil for all.
function M.read(store, only)
  local data = { runs = array {}, suites = array {}, environments = {}, cawb = core.version }
  local room = { bytes = M.most_source_bytes }
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
