-- runs: what the server has recorded. Candidates that come without a session belong to a run of their task on its
-- place: a run without an end of its own, whose turns are theirs. The record is the memory of what was evaluated:
-- nothing is kept beside it.

local core = require "cawb.core"
local ledger = require "cawb.run.ledger"
local run = require "cawb.run.run"

local M = {}

local Runs = {}
Runs.__index = Runs

--- A report that says nothing.
M.silent = setmetatable({ quiet = true }, { __index = function() return function() end end })

--- Notes of turns that a candidate's hash in the record does not tell from others: whose tunables the client has chosen, and
--- that it wanted confirmed.
M.chosen, M.confirmed = "tunables chosen by the client", "confirmed for the client"

local endless = 1 << 50

-- The options of a run without a budget.
local function unbounded(all)
  all.turns, all.seconds = endless, 1e12
  for means in pairs(all.budget) do all.budget[means] = 0 end
end

--- The key under which what is measured of a candidate holds: of the task, the device, the stack, and every option.
--- `tunables` that a client has chosen are the candidate's own; `confirm`: it is evaluated twice.
function Runs:key(entry, candidate, confirm)
  return ("%s %s %s"):format(self.stack, entry.hash, candidate.hash
    .. (candidate.tunables and core.hash.sha256(core.json.encode(candidate.tunables)) or "") .. (confirm and " confirmed" or ""))
end

--- The run of a held task; begun when there is none.
function Runs:of(held)
  if held.run and not held.run.ended then return held.run end
  unbounded(held.options)
  held.options.settings = { served = self.stack .. " " .. held.entry.hash }
  local r, message, name = run.new { task = held.task, strategy = { name = "serve", path = "serve", settings = {} },
    options = held.options, ledger = ledger.share(self.book), report = M.silent }
  if not r then return nil, message, name end
  held.run = r
  held.leave = function() self:finish(r) end
  return r
end

--- The run is over.
function Runs:finish(r)
  if r.closed then return end
  r.closed = true
  if r.ended ~= "failed" then r.ended = "finished" end
  local ok, message = r.ledger:finish(r)
  if not ok then self.log(message) end
end

--- What was recorded under a key: as result.turn has it, with its reward; or nil.
function Runs:recall(key)
  local at = self.known[key]
  if not at then return nil end
  local rows = self.book.store:query([[select t.result as result, json_extract(e.facts, '$.log') as log from turns t
    join evaluations e on e.run = t.run and e.turn = t.number and e.number = 0 where t.run = ?1 and t.number = ?2]], at.run, at.turn)
  local turn = rows and rows[1] and core.json.decode(rows[1].result)
  if turn then turn.run, turn.turn, turn.log = at.run, at.turn, rows[1].log end
  return turn
end

--- Remember where a turn lies.
function Runs:remember(key, id, number) self.known[key] = { run = id, turn = number } end

-- What earlier servers recorded on the same stack with the same options.
local function restore(self)
  local rows, message, name = self.book.store:query([[select t.run as run, t.number as number, t.candidate as candidate,
    json_extract(r.options, '$.settings.served') as served from turns t join runs r on r.id = t.run
    where r.strategy = 'serve' and served like ?1 || ' %' and coalesce(t.note, '') not in (?2, ?3)]], self.stack, M.chosen, M.confirmed)
  if not rows then return nil, message, name end
  for _, row in ipairs(rows) do
    self.known[("%s %s"):format(row.served, row.candidate)] = { run = row.run, turn = row.number }
  end
  return #rows
end

--- Open the record. `spec` = { out =, stack = text that names device, stack and options, log = }. Returns it, or nil,
--- message, name.
function M.new(spec)
  local book, message, name = ledger.open(spec.out)
  if not book then return nil, message, name end
  local self = setmetatable({ book = book, stack = core.hash.sha256(spec.stack):sub(1, 32), known = {}, log = spec.log }, Runs)
  local count
  count, message, name = restore(self)
  if not count then return nil, message, name end
  self.restored = count
  return self
end

return M
