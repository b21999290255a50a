-- restored: a candidate and its circumstances, out of the record of a run.

local candidates = require "cawb.judge.task.candidate"
local core = require "cawb.core"
local file = require "cawb.base.file"
local folder = require "cawb.judge.task.folder"
local options = require "cawb.base.options"

local M = {}

local decode = core.json.decode

--- Where a run is: its store's folder and its id, from an id and `--out`, or from the folder that
--- the run left its best candidate in.
function M.place(name, out)
  if name:find "/" and core.fs.kind(name) == "folder" then
    local path = core.fs.realpath(name)
    return path:match "^(.*)/", path:match "([^/]+)$"
  end
  return out, name
end

local function number_of(store, id, wanted)
  if wanted then return wanted end
  local ended = store:query("SELECT best_turn FROM run_ends WHERE run = ?", id)[1]
  if ended and ended.best_turn then return ended.best_turn end
  local best = store:query("SELECT number FROM turns WHERE run = ? AND ok = 1 ORDER BY reward DESC, number LIMIT 1", id)[1]
  return best and best.number
end

local function candidate_of(store, turn, evaluation, result)
  local row = store:query("SELECT files FROM candidates WHERE hash = ?", turn.candidate)[1]
  local files, texts = decode(row.files), {}
  for name, hash in pairs(files) do
    local text, message, kind = store:read(hash)
    if not text then return nil, message, kind end
    texts[name] = text
  end
  local python = folder.restored(texts)
  if python.python then return candidates.new { python = python.python, files = python.files, name = result.name } end
  if not texts["kernel.cu"] then
    return nil, "it is no kernel with a plan, and cannot be executed from here", "usage"
  end
  return candidates.restored(texts, { name = result.name, tunables = decode(evaluation.defines or "{}") })
end

-- What the options of a record would execute outside of the sandbox and the jail: a set of rules by its path, which is Lua
-- with all of its library, and a Python candidate without a jail. Or nil.
local function executes(all)
  if not all.rules:match "^[%w_-]+$" then return ("the rules in %s, which are Lua that runs as you"):format(all.rules) end
  if all.tier2.jail == "none" then return "its candidate without a jail (tier2.jail = none)" end
end

--- A turn of a run (its best without `number`): { run = its row, number, candidate, result, facts, options,
--- manifest }, or nil, message, name. A record that would execute more than the judge does in sandboxes and jails is
--- refused without `trust`: it may be somebody else's.
function M.turn(store, id, number, trust)
  local run = store:query("SELECT * FROM runs WHERE id = ?", id)[1]
  if not run then return nil, ("the store %s has no run '%s'"):format(store:path(), id), "usage" end
  number = number_of(store, id, number)
  if not number then return nil, ("no candidate of run %s passed: name a turn with --turn"):format(id), "usage" end
  local turn = store:query("SELECT * FROM turns WHERE run = ? AND number = ?", id, number)[1]
  if not turn then return nil, ("run %s has no turn %d"):format(id, number), "usage" end
  local evaluation = store:query("SELECT * FROM evaluations WHERE run = ? AND turn = ? AND number = 0", id,
    number)[1] or {}
  local result = decode(turn.result)
  local candidate, message, name = candidate_of(store, turn, evaluation, result)
  if not candidate then return nil, message, name end
  local all = options.restored(decode(run.options or "{}") or {})
  local more = not trust and executes(all)
  if more then return nil, ("run %s wants %s: give --trust if you recorded it yourself"):format(id, more), "usage" end
  local environment = store:query("SELECT json FROM environments WHERE hash = ?", run.environment)[1]
  return { run = run, number = number, candidate = candidate, result = result, options = all,
           facts = evaluation.facts and decode(evaluation.facts) or {},
           manifest = environment and (decode(environment.json) or {}).manifest or {} }
end

--- Why the run's task is not what it was, or nil.
function M.task_changed(run)
  local text = file.read(run.task or "")
  if not text then return ("the task %s is gone: give its file with --task"):format(tostring(run.task)) end
  if run.task_hash and core.hash.sha256(text) ~= run.task_hash then
    return run.task .. " is not the file that the run had: give that with --task"
  end
end

return M
