-- same: does a mutant that was not rejected differ from the kernel that it was made of at all? Both run on the same
-- inputs, the task's own and every kind of the battery, and their outputs are compared bit by bit. A mutant that is
-- the same on all of them is a right kernel as far as anybody can tell: a comparison of what can never be equal, a
-- guard that holds at this size, a rounding of what has few digits.

local execute = require "cawb.judge.worker.execute"

local M = {}

local DRAWS = 3                                    -- of each kind
local further = { "positive", "huge", "tiny", "nonfinite", "nan" }

local function kinds_of(options)
  local list, seen = { false }, {}
  for _, from in ipairs { options.verify.battery, further } do
    for _, kind in ipairs(from) do
      if not seen[kind] then list[#list + 1] = kind end
      seen[kind] = true
    end
  end
  return list
end

-- What a candidate leaves on inputs of a kind and a seed, as a hash; nil where it does not run, or there is no such kind.
local function mark(task, candidate, options, kind, seed)
  local ran = execute.run(task, candidate, options, kind or nil, seed)
  if not ran or not ran.ok then return nil end
  local found = task:ask { op = "mark" }
  return found and found.mark
end

--- Whether a mutant's outputs are those of its base on all inputs tried, and on how many they were.
function M.check(task, base, mutant, options)
  local compared = 0
  for _, kind in ipairs(kinds_of(options)) do
    for _ = 1, kind and DRAWS or 2 * DRAWS do
      local seed = task.next_seed "same"
      local expected = mark(task, base, options, kind, seed)
      if expected then
        compared = compared + 1
        if mark(task, mutant, options, kind, seed) ~= expected then return false, compared end
      end
    end
  end
  return compared > 0, compared
end

return M
