-- Uniform drawing among schedules: every decision of the default's plan takes one of its values at random, of the same
-- options, cuts and rewrites as compose/schedule.lua calls legal. What was drawn before is drawn again.

local compose = require "cawb.compose"
local schedule = compose.schedule

local M = {}

local DRAWS = 80           -- in a row that lead to nothing new, before the drawing ends

-- A function that draws from 1 to n, the same for the same seed (Park and Miller's generator, 1988).
local function drawing(state)
  return function(n)
    state = state * 48271 % 2147483647
    return state % n + 1
  end
end

-- The legal edits of what was made by what they decide: { { nothing, edit, edit }, ... } in order.
local function decisions(made)
  local list, at = {}, {}
  for _, edit in ipairs(schedule.legal(made)) do
    local key = edit.kernel and edit.kernel .. " " .. edit.name or edit.cut or edit.skip
    if not at[key] then
      at[key] = { edit.kernel and edit.kernel .. edit.name }
      list[#list + 1] = at[key]
      at[key].edits = {}
    end
    table.insert(at[key].edits, edit)
  end
  return list
end

local function drawn(made, draw)
  local s = {}
  for _, one in ipairs(decisions(made)) do
    local edit = one.edits[draw(#one.edits + 1)]
    if edit then s = schedule.apply(s, edit) end
  end
  return s
end

--- As compose.tune.random, by such draws.
function M.uniform(from, how)
  local draw, first, seen, best = drawing(how.seed), how.make(from), {}, nil
  local asked, misses = 0, 0
  while asked < how.measurements and misses < DRAWS do
    local made = asked == 0 and first or how.make(drawn(first, draw))
    local text = made and made.source .. made.plan
    if text and not seen[text] then
      seen[text], asked, misses, best = true, asked + 1, 0, true
      how.measure(made)
    else misses = misses + 1 end
  end
  return best
end

return M
