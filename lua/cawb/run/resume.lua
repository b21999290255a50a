-- resume: a run that stopped before it ended, and goes on under its own name: turns, best and what
-- was spent come from the record. Its workspace lies where it was.

local candidates = require "cawb.judge.task.candidate"
local core = require "cawb.core"
local folder = require "cawb.judge.task.folder"
local ledger = require "cawb.run.ledger"

local M = {}

-- What a turn's candidate was, from the artifacts.
local function candidate_of(store, row, turn)
  local files = assert(core.json.decode(row.files))
  local texts = {}
  for name, hash in pairs(files) do texts[name] = assert(store:read(hash)) end
  local python = folder.restored(texts)
  if python.python then
    return candidates.new { python = python.python, files = python.files, name = turn.name, note = turn.note }
  end
  return candidates.restored(texts, { name = turn.name, note = turn.note })
end

-- A turn as run.lua has it, as far as it was recorded.
local function turn_of(store, row)
  local turn = assert(core.json.decode(row.result))
  turn.started, turn.candidate = row.started, candidate_of(store, row, turn)
  turn.facts = { ok = turn.ok, stage = turn.stage, reason = turn.reason, time_s = turn.time_s, speedup = turn.speedup,
    error = turn.error, equal_error = turn.equal_error, label = turn.label, seconds = turn.seconds,
    precision = turn.precision and { class = turn.precision },
    modelled = turn.modelled, tunables = turn.tunables, variants = {} }
  turn.variants = nil
  return turn
end

-- Seconds between what was recorded, without the pauses: a "resumed" begins anew.
local function seconds_of(started, turns, events)
  local moments = { { at = started } }
  for _, turn in ipairs(turns) do
    local long = 0
    for _, s in pairs(turn.seconds or {}) do long = long + s end
    moments[#moments + 1] = { at = turn.started + long }
  end
  for _, event in ipairs(events) do moments[#moments + 1] = { at = event.at, fresh = event.kind == "resumed" } end
  table.sort(moments, function(a, b) return a.at < b.at end)
  local sum = 0.0
  for i = 2, #moments do
    if not moments[i].fresh then sum = sum + moments[i].at - moments[i - 1].at end
  end
  return sum
end

-- What was spent when it was last heard of: at a pause, else after a turn.
local function spent_of(turns, events)
  local spent = #turns > 0 and turns[#turns].spent or {}
  for _, event in ipairs(events) do
    if event.kind == "paused" then spent = core.json.decode(event.data).spent or spent end
  end
  return spent
end

local function why_not(store, row, id, task)
  if not row then return ("there is no run '%s' here: name one of the folders beside store.sqlite"):format(id) end
  if ledger.under_way(store:path(), id) then return ("run %s is under way: another process has it"):format(id) end
  if #store:query("select run from run_ends where run = ?1", id) > 0 then return ("run %s has ended"):format(id) end
  if row.task_hash ~= task.info.source_sha256 then return ("run %s is of another task, or this one has changed"):format(id) end
  if row.device ~= task.device.info.name then
    return ("run %s was on %s, this is %s: times do not compare"):format(id, row.device, task.device.info.name)
  end
end

--- What is recorded of a run that has not ended: { id =, turns =, events = how many, seconds =,
--- spent = { device_seconds =, tokens =, ... } }; or nil, message, "usage".
function M.read(book, id, task)
  local store = book.store
  local row = store:query("select * from runs where id = ?1", id)[1]
  local why = why_not(store, row, id, task)
  if why then return nil, why, "usage" end
  local turns = {}
  for i, one in ipairs(store:query("select t.started, t.result, c.files from turns t join candidates c "
      .. "on c.hash = t.candidate where t.run = ?1 order by t.number", id)) do
    turns[i] = turn_of(store, one)
  end
  local events = store:query("select number, at, kind, data from events where run = ?1 order by number", id)
  return { id = id, turns = turns, events = #events, seconds = seconds_of(row.started, turns, events),
           spent = spent_of(turns, events) }
end

--- A ledger that goes on with the run which `stopped` tells of, for run.new.
function M.ledger(book, stopped)
  local function begin(self, run)
    run.id, self.folder = stopped.id, ("%s/%s"):format(self.dir, stopped.id)
    local held, message, name = self:hold(run.id)
    if not held then return nil, message, name end
    return self:event(run, "resumed", { turns = #stopped.turns, seed = run.task.seed })
  end
  return setmetatable({ begin = begin, events = stopped.events }, { __index = book })
end

--- Give a new run what the old one had: turns, best, what was spent. A candidate that the
--- strategy proposes again, because it begins anew, is answered from the record.
function M.restore(run, stopped)
  run.recorded = {}
  for i, turn in ipairs(stopped.turns) do
    run.turns[i], run.recorded[turn.candidate.hash] = turn, turn
    run.budget:spend("turns", 1)
  end
  run.asked, run.best = #run.turns, run:top(1)[1]
  run.budget:spend("no_progress", #run.turns - (run.best and run.best.number or 0))
  for _, means in ipairs { "device_seconds", "replies", "tokens", "dollars" } do
    run.budget:spend(means, stopped.spent[means] or 0)
  end
end

return M
