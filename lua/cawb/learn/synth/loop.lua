-- loop: draws of a set until so many tasks are kept, from where the store says that it was left.

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
  local e = bench.time_left(state.gaps, state.count - state.kept)
  return ("[%d/%d] draw %d  %s%s"):format(state.kept, state.count, number, what,
    e and ("  about %s left (%s to %s)"):format(minutes(e.mean), minutes(e.lo), minutes(e.hi)) or "")
end

--- Draw until `count` tasks are kept, or `most` draws have a row. `shard` = { i, n }: the i-th of n parts of the numbers. `say` is called with
--- a line for each draw, `each` (number, row), if given, after a task was kept: true, or nil, message, name. Returns "finished", "interrupted" or "exhausted", or nil, message, name.
function M.run(set, maker, count, shard, most, say, each)
  local there, number, drawn = set:numbers(), shard[1], 0
  local state = { kept = set:kept(), count = count, gaps = {} }
  local last = core.clock.now()
  while state.kept < count do
    if core.clock.interrupted() then return "interrupted" end
    if drawn >= most then return "exhausted" end
    if not there[number] then
      local row, message, name = maker:make(number)
      if name == "interrupted" then return "interrupted" end
      if not row then return nil, message, name end
      local ok
      ok, message, name = set:add(number, row)
      if not ok then return nil, message, name end
      if row.status == "kept" then
        local now = core.clock.now()
        state.kept, state.gaps[#state.gaps + 1], last = state.kept + 1, now - last, now
      end
      say(progress(state, number, row))
      if each and row.status == "kept" then
        ok, message, name = each(number, row)
        if name == "interrupted" then return "interrupted" end
        if not ok then return nil, message, name end
      end
    end
    number, drawn = number + shard[2], drawn + 1
  end
  return "finished"
end

return M
