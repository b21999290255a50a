-- loop: draws of a set until so many tasks are kept, or so many texts are there, from where the store says that it was left.

local bench = require "cawb.suite.bench"
local core = require "cawb.core"

local M = {}

-- A duration as people say it.
local function minutes(s)
  return s < 90 and ("%.0f s"):format(s) or s < 5400 and ("%.0f min"):format(s / 60) or ("%.1f h"):format(s / 3600)
end

local function progress(state, number, row)
  local what = row.status == "kept" and ("%s  %.3g ms modelled"):format(table.concat(row.data.ops, ", "), row.data.eager_modelled_s * 1e3)
    or ("%s%s"):format(row.status, row.reason and ": " .. row.reason or "")
  local e = bench.time_left(state.gaps, state.goal.count - state.have)
  return ("[%d/%d%s] draw %d  %s%s"):format(state.have, state.goal.count, state.goal.texts and " texts" or "", number, what,
    e and ("  about %s left (%s to %s)"):format(minutes(e.mean), minutes(e.lo), minutes(e.hi)) or "")
end

-- `n` tasks or texts more, and the time that one took.
local function gained(state, n)
  if n == 0 then return end
  local now = core.clock.now()
  state.have, state.gaps[#state.gaps + 1], state.last = state.have + n, (now - state.last) / n, now
end

-- One draw, its row, and what is made of it: true, or nil, message, name.
local function draw(set, maker, number, state, say, each)
  local row, message, name = maker:make(number)
  if not row then return nil, message, name end
  if row.status == "crashed" and core.clock.interrupted() then return nil, "interrupted", "interrupted" end
  local ok
  ok, message, name = set:add(number, row)
  if not ok then return nil, message, name end
  local kept = row.status == "kept"
  if kept and not state.goal.texts then gained(state, 1) end
  say(progress(state, number, row))
  if not kept or not each then return true end
  local texts
  texts, message, name = each(number, row)
  if not texts then return nil, message, name end
  if state.goal.texts then gained(state, texts) end
  return true
end

--- Draw until `goal.count` tasks are kept, or with `goal.texts`, how many there are, so many texts; or until `most` draws have a row. `shard` = { i, n }: the
--- i-th of n parts of the numbers. `say` is called with a line for each draw, `each` (number, row), if given, after a task was kept: how many texts it
--- made, or nil, message, name. Returns "finished", "interrupted" or "exhausted", or nil, message, name.
function M.run(set, maker, goal, shard, most, say, each)
  local there, number, drawn = set:numbers(), shard[1], 0
  local state = { have = goal.texts or set:kept(), goal = goal, gaps = {}, last = core.clock.now() }
  while state.have < goal.count do
    if core.clock.interrupted() then return "interrupted" end
    if drawn >= most then return "exhausted" end
    if not there[number] then
      local ok, message, name = draw(set, maker, number, state, say, each)
      if name == "interrupted" then return "interrupted" end
      if not ok then return nil, message, name end
    end
    number, drawn = number + shard[2], drawn + 1
  end
  return "finished"
end

return M
