-- trajectory: a recorded run as JSON Lines, for a trainer. Every line is an object with `type`:
--   run      what it was: task, device, strategy, options, seed
--   message  what was said: chat, role, content, tool_calls, and for replies usage, cost, logprobs;
--            for the result of a tool that made a turn: turn, reward
--   turn     what a turn was worth: reward, verdict, times, and the candidate itself
--   end      how it ended: the final reward, which is the best turn's, and all that was spent
-- in the order in which they happened. docs/reference/record.md has the fields.

local core = require "cawb.core"
local folder = require "cawb.judge.task.folder"

local M = {}

local function decode(text) return text and core.json.decode(text) or nil end

local function head(store, row)
  local environment = store:query("select json from environments where hash = ?1", row.environment)[1]
  return { type = "run", run = row.id, started = row.started, strategy = row.strategy, task = row.task,
    task_hash = row.task_hash, device = row.device, modelled = row.modelled == 1, seed = row.seed,
    options = decode(row.options), environment = decode(environment and environment.json) }
end

local function calls_of(data)
  if not data.calls then return nil end
  local list = core.json.array {}
  for i, call in ipairs(data.calls) do
    list[i] = { id = call.id, type = "function", ["function"] = { name = call.name, arguments = call.arguments } }
  end
  return list
end

-- An event of the kind "message", as lua/cawb/agent/chat.lua records it.
local function message_of(row)
  local d = decode(row.data)
  return { type = "message", at = row.at, chat = d.chat, role = d.role, content = d.text, tool_calls = calls_of(d),
    tool_call_id = d.id, name = d.name, failed = d.failed, usage = d.usage, cost = d.cost, seconds = d.seconds, stop = d.stop,
    reasoning = d.reasoning, logprobs = d.logprobs, turn = row.turn, reward = d.reward }
end

-- Another event: as it was recorded.
local function event_of(row)
  return { type = row.kind, at = row.at, turn = row.turn, data = decode(row.data) }
end

local function candidate_of(store, row)
  local texts = {}
  for name, hash in pairs(decode(row.files) or {}) do texts[name] = store:read(hash) end
  local more = decode(texts["candidate.json"] or "{}") or {}
  local python = folder.restored(texts)
  return { hash = row.candidate, python = python.python, files = python.python and python.files, source = texts["kernel.cu"], plan = texts["plan.lua"], defines = more.defines }
end

local function turn_of(store, row)
  local result = decode(row.result) or {}
  return { type = "turn", number = row.number, at = row.started, reward = row.reward, name = result.name, note = row.note,
    verdict = { ok = row.ok == 1, stage = row.stage, reason = row.reason }, time_s = result.time_s, speedup = result.speedup,
    error = result.error, tunables = result.tunables, modelled = result.modelled, seconds = result.seconds,
    candidate = candidate_of(store, row) }
end

-- What models counted, over all replies.
local function usage_of(messages)
  local sum = {}
  for _, m in ipairs(messages) do
    for name, n in pairs(type(m.usage) == "table" and m.usage or {}) do
      if math.type(n) == "integer" then sum[name] = (sum[name] or 0) + n end
    end
  end
  return sum
end

local function tail(store, id, turns, lines)
  local row = store:query("select * from run_ends where run = ?1", id)[1]
  local summary, best = row and decode(row.summary) or {}, nil
  for _, turn in ipairs(turns) do
    if row and turn.number == row.best_turn then best = turn end
  end
  return { type = "end", at = row and row.ended, status = row and row.status or "open", ended = summary.ended,
    reason = summary.reason, best_turn = best and best.number, reward = best and best.reward, turns = #turns,
    usage = usage_of(lines), spent = summary.spent }
end

-- A turn stands ahead of the first message that tells of it; one that no message tells of, by its time.
local function merge(lines, messages, turns)
  local next_turn = 1
  local function flush(before)
    while turns[next_turn] and before(turns[next_turn]) do
      lines[#lines + 1] = turns[next_turn]
      next_turn = next_turn + 1
    end
  end
  local told = {}
  for _, m in ipairs(messages) do if m.turn then told[m.turn] = true end end
  for _, m in ipairs(messages) do
    flush(function(turn)
      if m.turn then return turn.number <= m.turn end
      return not told[turn.number] and turn.at <= m.at
    end)
    lines[#lines + 1] = m
  end
  flush(function() return true end)
end

--- The lines of a run, as tables; or nil, message, "usage" where the store has no such run.
function M.lines(store, id)
  local row = store:query("select * from runs where id = ?1", id)[1]
  if not row then return nil, ("there is no run '%s' in %s"):format(id, store:path()), "usage" end
  local messages, turns, lines = {}, {}, { head(store, row) }
  for i, event in ipairs(store:query("select at, kind, turn, data from events where run = ?1 order by number", id)) do
    messages[i] = event.kind == "message" and message_of(event) or event_of(event)
  end
  for i, turn in ipairs(store:query("select t.*, c.files from turns t left join candidates c on c.hash = t.candidate "
      .. "where t.run = ?1 order by t.number", id)) do
    turns[i] = turn_of(store, turn)
  end
  merge(lines, messages, turns)
  lines[#lines + 1] = tail(store, id, turns, messages)
  return lines
end

--- The names of all runs of a store, the oldest first.
function M.runs(store)
  local list = {}
  for i, row in ipairs(store:query "select id from runs order by started, id") do list[i] = row.id end
  return list
end

return M
