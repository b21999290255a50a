-- rows: what became of a task, as one row: taken from the record of its run, so that
-- nothing depends on the process that watched it.

local core = require "cawb.core"

local M = {}

local decode, encode = core.json.decode, core.json.encode

-- "2 at compile, 1 at verify", in the order in which stages come.
local function where(turns)
  local counts, order = {}, {}
  for _, t in ipairs(turns) do
    local stage = t.stage or "?"
    if not counts[stage] then order[#order + 1] = stage end
    counts[stage] = (counts[stage] or 0) + 1
  end
  for i, stage in ipairs(order) do order[i] = ("%d at %s"):format(counts[stage], stage) end
  return table.concat(order, ", "), counts.compile == #turns
end

-- A run none of whose turns passed.
local function rejected(turns)
  local text, all_at_compile = where(turns)
  return all_at_compile and "compile failure" or "rejected",
    ("%s; last: %s"):format(text, tostring(turns[#turns].reason):match "[^\n]*")
end

-- What can be said of a run from its last row and its turns.
local function verdict(ended, turns)
  local summary = ended and decode(ended.summary or "{}") or {}
  if ended and ended.status == "error" then return "error", summary.reason end
  for _, t in ipairs(turns) do if t.ok == 1 then return "pass" end end
  if #turns > 0 then return rejected(turns) end
  return "no candidate", tostring(summary.reason or "the strategy tried nothing"):match "[^\n]*"
end

local function baselines_of(store, run)
  local list = {}
  for _, b in ipairs(assert(store:query("SELECT subject, median, lo, hi, modelled, json FROM baselines "
      .. "WHERE run = ?", run))) do
    local more = decode(b.json or "{}") or {}
    list[b.subject] = { median = b.median, lo = b.lo, hi = b.hi, modelled = b.modelled == 1,
                        failed = more.failed, error = more.error }
  end
  return list
end

-- Calls of NVIDIA's libraries in a plan: a speed-up by those is no kernel's.
local function library_calls(steps)
  local seen, list = {}, {}
  for _, step in ipairs(steps or {}) do
    local library = step.chosen and step.chosen.library
    if library and not seen[library] then
      seen[library] = true
      list[#list + 1] = library
    end
  end
  return #list > 0 and core.json.array(list) or nil
end

-- Of the best turn what tables and reports need.
local function best_of(store, run, number)
  local turn = store:query("SELECT candidate, result FROM turns WHERE run = ? AND number = ?", run, number)[1]
  local full = store:query("SELECT facts FROM evaluations WHERE run = ? AND turn = ? AND number = 0", run,
    number)[1]
  local best = decode(turn.result)
  local facts = full and full.facts and decode(full.facts) or {}
  return { turn = number, hash = turn.candidate, name = best.name, label = best.label, reward = best.reward,
    time_s = best.time_s, speedup = best.speedup, equal_error = best.equal_error, error = best.error,
    first = best.first, launch_bound_s = best.launch_bound_s, throttled = best.throttled, modelled = best.modelled,
    libraries = library_calls(facts.steps), floor = facts.floor, flags = facts.rules and facts.rules.flags }
end

--- What a run spent: at its end (`ended` is its row of run_ends), or when it was last heard of.
function M.spent_of(store, run, ended)
  if ended then return (decode(ended.summary or "{}") or {}).spent end
  local last = store:query("SELECT result FROM turns WHERE run = ? ORDER BY number DESC LIMIT 1", run)[1]
  return last and (decode(last.result) or {}).spent
end

--- Of rows the sums of what their runs spent on models: { replies, tokens, dollars }.
function M.spent(list)
  local sum = { replies = 0, tokens = 0, dollars = 0 }
  for _, row in ipairs(list) do
    for means in pairs(sum) do sum[means] = sum[means] + ((row.data.spent or {})[means] or 0) end
  end
  return sum
end

--- A run as a row: { status, reason, data = { turns, best, baselines, spent } }; nil where the run never
--- began.
function M.of_run(store, run)
  local begun = store:query("SELECT device, modelled, seed FROM runs WHERE id = ?", run)[1]
  if not begun then return nil end
  local ended = store:query("SELECT status, best_turn, summary FROM run_ends WHERE run = ?", run)[1]
  local turns = assert(store:query("SELECT number, ok, stage, reason, reward FROM turns WHERE run = ? "
    .. "ORDER BY number", run))
  local status, reason = verdict(ended, turns)
  local row = { status = status, reason = reason, finished = ended ~= nil,
    data = { turns = #turns, baselines = baselines_of(store, run), device = begun.device,
             modelled = begun.modelled == 1, spent = M.spent_of(store, run, ended) } }
  if ended and ended.best_turn and status == "pass" then row.data.best = best_of(store, run, ended.best_turn) end
  return row
end

--- The next attempt's number at a task, and the last one's row.
function M.last(store, suite, task)
  local row = store:query("SELECT * FROM suite_tasks WHERE suite = ? AND task = ? ORDER BY attempt DESC LIMIT 1",
    suite, task)[1]
  return row and row.attempt + 1 or 1, row
end

--- Add the row of a task: { suite, task = of a suite, status, reason, run, started, ended, data,
--- replaces = the attempt that it follows, or 0 }. A row that another process added meanwhile
--- stays, and this one is dropped. Returns true, or nil, message, name.
function M.add(store, row)
  local ok, message, name = store:begin()
  if not ok then return nil, message, name end
  local good, failure = pcall(function()
    local attempt = M.last(store, row.suite, row.task.key)
    if attempt - 1 ~= row.replaces then return true end
    local t = row.task
    return assert(store:insert("suite_tasks", { suite = row.suite, task = t.key, attempt = attempt, level = t.level,
      problem_id = t.problem_id, name = t.name, code = t.hash, status = row.status, reason = row.reason,
        run = row.run,
      started = row.started, ended = row.ended, json = encode(row.data or {}) }))
  end)
  if good then return store:commit() end
  store:rollback()
  return nil, tostring(failure), "io"
end

--- The rows that count, the last attempt at each task: a list in the order of level, id, name, each
--- with `data` decoded. Without `suite` those of the store's only suite, or of the one begun last.
function M.read(store, suite)
  local list = assert(store:query([[SELECT s.* FROM suite_tasks s JOIN (SELECT task, max(attempt) AS attempt
    FROM suite_tasks WHERE suite = ?1 GROUP BY task) m USING (task, attempt) WHERE s.suite = ?1
    ORDER BY s.level, s.problem_id, s.task]], suite))
  for _, row in ipairs(list) do row.data = decode(row.json or "{}") end
  return list
end

--- What the tasks of a suite came from and how many were set out to be done: { paths = { files, folders }, tasks = number,
--- devices = { names } }.
function M.sessions(store, suite)
  local about, seen = { paths = {}, tasks = 0, devices = {} }, {}
  local function once(list, what)
    if what and not seen[what] then list[#list + 1] = what end
    if what then seen[what] = true end
  end
  for _, row in ipairs(assert(store:query("SELECT json FROM suite_sessions WHERE suite = ? ORDER BY started", suite))) do
    local s, keys = decode(row.json), {}
    once(about.paths, s.suite)
    for _, device in ipairs(s.devices or {}) do once(about.devices, device) end
    for _, key in ipairs(s.tasks or {}) do once(keys, "task " .. key) end
    about.tasks = about.tasks + #keys
  end
  return about
end

--- The suites of a store, the one begun last first: { id, started, about }.
function M.suites(store)
  local list = assert(store:query [[SELECT s.id, s.json, max(t.started) AS started, min(t.started) AS first
    FROM suites s LEFT JOIN suite_sessions t ON t.suite = s.id GROUP BY s.id ORDER BY started DESC]])
  for _, s in ipairs(list) do s.about = decode(s.json) end
  return list
end

return M
