-- merge: the rows of one store into another, each once however often it is done. A run that
-- went on since the last time is completed.

local core = require "cawb.core"

local M = {}

-- Run the inserts in `body` as one transaction.
local function transaction(store, body)
  local ok, message, name = store:begin()
  if not ok then return nil, message, name end
  local good, failure = pcall(body)
  if good then return store:commit() end
  store:rollback()
  return nil, tostring(failure), "io"
end

local function insert(store, table, row) assert(store:insert(table, row)) end

-- Every file that a candidate names, by content.
local function copy_files(into, from, candidate)
  for _, hash in pairs(core.json.decode(candidate.files)) do
    local text = assert(from:read(hash))
    assert(into:artifact(text))
  end
end

local function set_of(rows, key)
  local set = {}
  for _, row in ipairs(rows) do set[row[key]] = true end
  return set
end

-- Rows of a run that hang on its turns, where the turn is new.
local function copy_turns(into, from, id)
  local there = set_of(into:query("SELECT number FROM turns WHERE run = ?", id), "number")
  local added, wanted = {}, {}
  for _, turn in ipairs(from:query("SELECT * FROM turns WHERE run = ? ORDER BY number", id)) do
    if not there[turn.number] then
      insert(into, "turns", turn)
      added[turn.number], wanted[turn.candidate or ""] = true, true
    end
  end
  if not next(added) then return wanted, 0 end
  local n = 0
  for _ in pairs(added) do n = n + 1 end
  for _, name in ipairs { "evaluations", "samples", "verdicts" } do
    for _, row in ipairs(from:query(("SELECT * FROM %s WHERE run = ?"):format(name), id)) do
      if added[row.turn] then insert(into, name, row) end
    end
  end
  return wanted, n
end

local function copy_candidates(into, from, wanted)
  for hash in pairs(wanted) do
    local row = from:query("SELECT * FROM candidates WHERE hash = ?", hash)[1]
    if row then
      copy_files(into, from, row)
      insert(into, "candidates", row)
    end
  end
end

local function copy_run(into, from, run, there)
  local turns = 0
  local ok, message, name = transaction(into, function()
    if not there[run.id] then
      local e = run.environment and from:query("SELECT * FROM environments WHERE hash = ?", run.environment)[1]
      if e then insert(into, "environments", e) end
      insert(into, "runs", run)
    end
    local wanted
    wanted, turns = copy_turns(into, from, run.id)
    copy_candidates(into, from, wanted)
    local known = set_of(into:query("SELECT subject FROM baselines WHERE run = ?", run.id), "subject")
    for _, row in ipairs(from:query("SELECT * FROM baselines WHERE run = ?", run.id)) do
      if not known[row.subject] then insert(into, "baselines", row) end
    end
    local ended = from:query("SELECT * FROM run_ends WHERE run = ?", run.id)[1]
    if ended and #into:query("SELECT run FROM run_ends WHERE run = ?", run.id) == 0 then
      insert(into, "run_ends", ended)
    end
  end)
  return ok, message, name, turns
end

-- An attempt keeps its place behind those that are there.
local function copy_attempt(into, row)
  local same = into:query([[SELECT attempt FROM suite_tasks WHERE suite = ? AND task = ? AND started = ?
    AND ifnull(run, '') = ?]], row.suite, row.task, row.started, row.run or "")
  if #same > 0 then return 0 end
  local last = into:query("SELECT max(attempt) AS n FROM suite_tasks WHERE suite = ? AND task = ?",
    row.suite, row.task)
  row.attempt = (last[1].n or 0) + 1
  insert(into, "suite_tasks", row)
  return 1
end

local function copy_suites(into, from)
  local rows = 0
  local ok, message, name = transaction(into, function()
    for _, row in ipairs(from:query "SELECT * FROM suites") do insert(into, "suites", row) end
    for _, row in ipairs(from:query "SELECT * FROM suite_sessions") do
      local same = into:query("SELECT suite FROM suite_sessions WHERE suite = ? AND started = ? AND json = ?",
        row.suite, row.started, row.json)
      if #same == 0 then insert(into, "suite_sessions", row) end
    end
    for _, row in ipairs(from:query "SELECT * FROM suite_tasks ORDER BY started, attempt") do
      rows = rows + copy_attempt(into, row)
    end
  end)
  return ok, message, name, rows
end

-- Draws and times of a set of synthesised tasks, with the files that they name.
local function copy_set(into, from, set)
  local rows = 0
  local ok, message, name = transaction(into, function()
    insert(into, "synth_sets", set)
    local there = set_of(into:query("SELECT number FROM synth_draws WHERE synth = ?", set.id), "number")
    for _, row in ipairs(from:query("SELECT * FROM synth_draws WHERE synth = ? ORDER BY number", set.id)) do
      if not there[row.number] then
        if row.code then assert(into:artifact(assert(from:read(row.code)))) end
        insert(into, "synth_draws", row)
        rows = rows + 1
      end
    end
    for _, row in ipairs(from:query("SELECT * FROM synth_times WHERE synth = ?", set.id)) do
      local same = into:query("SELECT number FROM synth_times WHERE synth = ? AND number = ? AND device = ?", set.id, row.number, row.device)
      if #same == 0 then insert(into, "synth_times", row) end
    end
    local taught = set_of(into:query("SELECT number FROM synth_texts WHERE synth = ?", set.id), "number")
    for _, row in ipairs(from:query("SELECT * FROM synth_texts WHERE synth = ?", set.id)) do
      if not taught[row.number] then insert(into, "synth_texts", row) end
    end
  end)
  return ok, message, name, rows
end

local function copy_sets(into, from)
  local draws = 0
  for _, set in ipairs(from:query "SELECT * FROM synth_sets ORDER BY id") do
    local ok, message, name, rows = copy_set(into, from, set)
    if not ok then return nil, message, name end
    draws = draws + rows
  end
  return draws
end

--- Add what `from` holds to `into`, both open stores. Returns { runs, turns, tasks, draws } that were new,
--- or nil, message, name.
function M.stores(into, from)
  local added, there = { runs = 0, turns = 0, tasks = 0 }, set_of(into:query "SELECT id FROM runs", "id")
  for _, run in ipairs(from:query "SELECT * FROM runs ORDER BY started") do
    local ok, message, name, turns = copy_run(into, from, run, there)
    if not ok then return nil, message, name end
    if not there[run.id] then added.runs = added.runs + 1 end
    added.turns = added.turns + turns
  end
  local ok, message, name, rows = copy_suites(into, from)
  if not ok then return nil, message, name end
  added.tasks = rows
  added.draws, message, name = copy_sets(into, from)
  if not added.draws then return nil, message, name end
  return added
end

return M
