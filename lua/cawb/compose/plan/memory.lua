-- memory: places in scratch memory for nodes between kernels. A place is one scratch tensor of a type; nodes whose life times do not
-- overlap share it.

local lists = require "cawb.base.lists"

local M = {}

-- The smallest free place that is large enough, else the largest free one, which grows.
local function fitting(places, dtype, n)
  local free = lists.filter(places, function(p) return p.free and p.dtype == dtype end)
  return lists.least(free, function(p) return p.numel >= n and p.numel or nil end) or (lists.least(free, function(p) return -p.numel end))
end

-- An item that is `persistent` has its place from before the first step to the end.
local function claim(places, dtype, n, persistent)
  local p = not persistent and fitting(places, dtype, n)
  if not p then
    p = { dtype = dtype, numel = n, number = #places + 1 }
    places[p.number] = p
  end
  p.free, p.numel = false, math.max(p.numel, n)
  return p
end

--- Places for the items that kernels write and read. `steps` is a list of { writes = { item }, reads = { item } }. An item is
--- { dtype =, numel =, persistent = made before the first call, for all calls }; one item is one table. Returns the list of places,
--- { dtype, numel, number }, and a table from item to place.
function M.plan(steps)
  local last, places, at = {}, {}, {}
  for k, step in ipairs(steps) do
    for _, item in ipairs(lists.joined(step.writes, step.reads)) do last[item] = k end
  end
  for k, step in ipairs(steps) do
    for _, item in ipairs(step.writes) do at[item] = at[item] or claim(places, item.dtype, item.numel, item.persistent) end
    for _, item in ipairs(lists.joined(step.writes, step.reads)) do
      if last[item] == k and at[item] and not item.persistent then at[item].free = true end
    end
  end
  return places, at
end

return M
