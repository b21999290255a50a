-- random_search: schedules that are drawn a few edits away; a plan is made once where draws lead to it again.

local schedule = require "cawb.compose.schedule.schedule"

local M = {}

local CACHED = 200         -- plans that were made and are held

--- A function that draws from 1 to n, the same for the same seed (Park and Miller's generator, 1988).
function M.drawing(state)
  return function(n)
    state = state * 48271 % 2147483647
    return state % n + 1
  end
end

function M.cached(make)
  local made, count = {}, 0
  return function(s)
    local text = schedule.text(s)
    if made[text] == nil then
      if count >= CACHED then made, count = {}, 0 end
      made[text], count = make(s) or false, count + 1
    end
    return made[text] or nil
  end
end

--- A walk of `count` edits from the schedule of `made`. Options other than the loop do not change the set of kernels, so nothing
-- is made until the end. Returns the schedule and its candidate, or nil if it has none. `choice` thins out a list of edits.
function M.steps(make, s, made, count, draw, choice)
  local seen = made
  for _ = 1, count do
    local legal = seen and schedule.legal(seen) or {}
    if choice then legal = choice(legal) end
    if #legal == 0 then break end
    local edit = legal[draw(#legal)]
    s = schedule.apply(s, edit)
    if edit.kernel and edit.name ~= "loop" then seen = setmetatable({ schedule = s }, { __index = seen })
    else seen = make(s) end
  end
  return s, make(s)
end

-- The best (tune.lua) without an option that changes no text; nil if there is no such option.
local function less(make, best)
  for key, own in pairs(best.schedule.kernels or {}) do
    for name in pairs(own) do
      local s = schedule.apply(best.schedule, { kernel = key, name = name })
      local made = make(s)
      if made and made.source == best.made.source and made.plan == best.made.plan then
        return { made = made, schedule = s, seconds = best.seconds, times = best.times, list = best.list }
      end
    end
  end
end

--- The best schedule without options that change no text.
function M.pruned(make, best)
  local next_one = less(make, best)
  while next_one do best, next_one = next_one, less(make, next_one) end
  return best
end

return M
