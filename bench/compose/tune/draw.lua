-- Drawing among schedules, the baselines of a search. Uniform: every decision of the default's plan takes one of its values at random, of the
-- same options, cuts and rewrites as compose/schedule.lua calls legal. Walks: one to four legal edits from the first schedule. What was drawn
-- before is drawn again.

local compose = require "cawb.compose"
local random_search = require "cawb.compose.tune.random_search"
local schedule = compose.schedule

local M = {}

local DRAWS = 80           -- in a row that lead to nothing new, before the drawing ends

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

--- As M.walks, by such draws.
function M.uniform(from, how)
  local draw, first, seen, best = random_search.drawing(how.seed), how.make(from), {}, nil
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

-- A schedule one to four edits away, and its candidate.
local function walk(make, from, draw)
  local first, s, made = make(from), nil, nil
  repeat s, made = random_search.steps(make, from, first, draw(4), draw) until made
  return s, made
end

--- Each measurement is of a new walk of one to four edits from the first schedule, while such walks are found. Returns the best, and the
--- curve, as compose.tune.search does.
function M.walks(from, how)
  local best, curve, draw, seen = nil, {}, random_search.drawing(how.seed or 1), {}
  how = setmetatable({ make = random_search.cached(how.make) }, { __index = how })
  local made, s, misses = how.make(from), from, 0
  while made and #curve < how.measurements and misses < DRAWS do
    local text = made.source .. made.plan
    if not seen[text] then
      local times, sum = how.measure(made), 0.0
      for _, t in ipairs(times or {}) do sum = sum + t end
      if times and (not best or sum < best.seconds) then best = { schedule = s, made = made, seconds = sum } end
      curve[#curve + 1], seen[text], misses = best and best.seconds or math.huge, true, 0
    else misses = misses + 1 end
    s, made = walk(how.make, from, draw)
  end
  return best, curve
end

return M
