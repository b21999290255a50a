-- tune: a better schedule by measurement. All kernels of a plan are tried at once: a round gives each of them the next
-- option of its generator that was not tried, and the times of single launches tell them apart. What shortens a kernel
-- stays. Edits that change more than one kernel (cuts, rewrites, loops) are tried one at a time, by the time of all. When every
-- single edit was tried, walks of a few edits from the best one follow: what pays only together is found by these.

local schedule = require "cawb.compose.schedule"

local M = {}

local GAIN = 0.98          -- of the best time so far: what is not below it is no gain
local DRAWS = 20           -- walks in a row that lead to nothing new, or nowhere, before a search ends
local FAR, ROUNDS = 4, 3   -- times the best: what is further behind is not tried with other options; rounds of these

-- A function that draws from 1 to n, the same for the same seed (Park and Miller's generator, 1988).
local function drawing(state)
  return function(n)
    state = state * 48271 % 2147483647
    return state % n + 1
  end
end

-- Edits that may change what kernels there are.
local function is_structural(edit) return not edit.kernel or edit.name == "loop" end

-- ---- what was seen

-- The text of a kernel that was measured, whatever it is called.
local function text_of(kernel)
  return kernel.made and kernel.made.text and kernel.made.text:gsub("%f[%w_]" .. kernel.name, "@") or nil
end

-- Times of kernels that were all measured before, in other company; nil where one was not.
local function known_times(self, made)
  local times = {}
  for k, kernel in ipairs(made.kernels) do
    local text = text_of(kernel)
    times[k] = text and self.seen[schedule.key(kernel) .. text]
    if not times[k] then return nil end
  end
  return times
end

local function measured(self, made)
  self.left = self.left - 1
  local times = self.measure(made)
  self.fresh = times ~= nil
  if not times and self.least then self.curve[#self.curve + 1] = self.least.seconds end      -- it counts all the same
  return times
end

-- One measurement: { made, seconds, times = by kernel's name }; nil where nothing could be made or ran.
local function look(self, s)
  local made = self.make(s)
  if not made or self.texts[made.source .. made.plan] then return nil end
  self.texts[made.source .. made.plan] = true
  self.fresh = false
  local times = known_times(self, made) or measured(self, made)
  if not times then return nil end
  local result = { made = made, schedule = s, seconds = 0.0, times = {} }
  for k, kernel in ipairs(made.kernels) do
    local key, text = schedule.key(kernel), text_of(kernel)
    result.seconds, result.times[key] = result.seconds + times[k], times[k]
    if text then self.seen[key .. text] = times[k] end
  end
  if not self.least or result.seconds < self.least.seconds then self.least = result end
  if self.fresh then self.curve[#self.curve + 1] = self.least.seconds end
  return result
end

local function take(self, result)
  if result and (not self.best or result.seconds < GAIN * self.best.seconds) then
    self.best = result
    return true
  end
  return false
end

local function spent(self) return self.left <= 0 or self.stop() end

-- ---- rounds

-- For each kernel its own edits that were not tried, in an order that mixes options.
local function untried(self)
  local lists = {}
  for _, edit in ipairs(schedule.legal(self.best.made)) do
    if edit.kernel and edit.value ~= nil and not is_structural(edit) then
      local name = ("%s %s=%s"):format(edit.kernel, edit.name, tostring(edit.value))
      if not self.tried[name] then
        lists[edit.kernel] = lists[edit.kernel] or {}
        table.insert(lists[edit.kernel], { edit = edit, name = name })
      end
    end
  end
  return lists
end

-- One of a kernel's untried edits: of an option that has gained before, else of one of which fewest values were tried.
local function pick(self, key, list)
  local best, least = {}, math.huge
  for _, one in ipairs(list) do
    local seen = self.options[key .. one.edit.name] or { tried = 0 }
    local rank = seen.gained and -1 or seen.tried
    if rank < least then best, least = {}, rank end
    if rank == least then best[#best + 1] = one end
  end
  return best[self.draw(#best)]
end

local function note(self, key, edit, gained)
  local seen = self.options[key .. edit.name] or { tried = 0 }
  seen.tried, seen.gained = seen.tried + 1, gained
  self.options[key .. edit.name] = seen
end

-- The best schedule with one edit more for every kernel that has one, and these edits; nil where none has.
local function next_round(self)
  local s, edits = self.best.schedule, {}
  local lists, keys = untried(self), {}
  for key in pairs(lists) do keys[#keys + 1] = key end
  table.sort(keys)
  for _, key in ipairs(keys) do
    local one = pick(self, key, lists[key])
    self.tried[one.name] = true
    edits[key] = one.edit
    s = schedule.apply(s, one.edit)
  end
  return #keys > 0 and s or nil, edits, keys
end

-- Edits of a round that made their own kernel shorter than it was in `times`, on the schedule `from`; nil where none did.
local function gains(self, result, edits, keys, from, times)
  local s, any = from, false
  for _, key in ipairs(keys) do
    local before, after = times[key], result.times[key]
    local gained = before and after and after < GAIN * before
    note(self, key, edits[key], gained)
    if gained then s, any = schedule.apply(s, edits[key]), true end
  end
  return any and s or nil
end

local function options_round(self)
  local s, edits, keys = next_round(self)
  if not s then return false end
  local from, times = self.best.schedule, self.best.times
  local result = look(self, s)
  if not result then
    for _, key in ipairs(keys) do note(self, key, edits[key], false) end
    return true
  end
  take(self, result)
  local better = gains(self, result, edits, keys, from, times)
  if better and #keys > 1 and not spent(self) then take(self, look(self, better)) end
  return true
end

-- What another way of making a kernel is worth shows when its own options are set: some rounds from there, unless it is
-- far behind.
local function explore(self, result)
  local before = self.best
  if not result or result.seconds > FAR * before.seconds then return end
  self.best = result
  for _ = 1, ROUNDS do
    if spent(self) or not options_round(self) then break end
  end
  if self.best.seconds >= GAIN * before.seconds then self.best = before end
end

-- One structural edit that was not tried on anything; those of the kernels that take longest come first.
local function structural_round(self)
  local best, worth
  for _, edit in ipairs(schedule.legal(self.best.made)) do
    local name = is_structural(edit) and schedule.text(schedule.apply({}, edit))
    if name and not self.tried[name] then
      local value = edit.kernel and self.best.times[edit.kernel] or 0
      if not best or value > worth then best, worth = { edit = edit, name = name }, value end
    end
  end
  if not best then return false end
  self.tried[best.name] = true
  local result = look(self, schedule.apply(self.best.schedule, best.edit))
  if not take(self, result) and best.edit.name == "loop" then explore(self, result) end
  return true
end

-- One to four edits from a schedule, and what is made of it; from that schedule's own `made` on, where that is at hand.
local function walk(how, from, draw)
  local s, made = from, nil
  repeat
    s, made = from, how.make(from)
    for _ = 1, draw(4) do
      local legal = made and schedule.legal(made) or {}
      if #legal == 0 then break end
      s = schedule.apply(s, legal[draw(#legal)])
      made = how.make(s)
    end
  until made
  return s, made
end

-- Two or three edits at once, from the best schedule; false where so many draws in a row gave nothing new.
local function wander(self)
  for _ = 1, DRAWS do
    local s, made = self.best.schedule, self.best.made
    for _ = 1, 1 + self.draw(2) do
      local legal = made and schedule.legal(made) or {}
      if #legal == 0 then break end
      s = schedule.apply(s, legal[self.draw(#legal)])
      made = self.make(s)
    end
    local result = made and look(self, s)
    if result then
      take(self, result)
      return true
    end
  end
  return false
end

-- The best schedule without what changes no text.
local function pruned(self)
  local best = self.best
  for key, own in pairs(best.schedule.kernels or {}) do
    for name in pairs(own) do
      local s = schedule.apply(best.schedule, { kernel = key, name = name })
      local made = self.make(s)
      if made and made.source == best.made.source and made.plan == best.made.plan then
        return { made = made, schedule = s, seconds = best.seconds, times = best.times }
      end
    end
  end
end

local function prune(self)
  local less = self.best and pruned(self)
  while less do
    self.best = less
    less = pruned(self)
  end
end

--- Search from a schedule. `how`: make(schedule) returns what candidate.make does, or nil; measure(made) the seconds of each
--- kernel, in order, or nil; measurements = at most; stop() = whether to end; seed. Returns the best { schedule, made,
--- seconds, times }, or nil where the first could not be measured, and the curve: the best seconds after each measurement.
function M.search(from, how)
  local self = { make = how.make, measure = how.measure, stop = how.stop or function() return false end, draw = drawing(how.seed or 1),
                 left = how.measurements, seen = {}, texts = {}, tried = {}, options = {}, curve = {} }
  take(self, look(self, from))
  local turn = 0
  while self.best and not spent(self) do
    turn = turn + 1
    local first, second = options_round, structural_round
    if turn % 2 == 0 then first, second = second, first end
    if not first(self) and not second(self) and not wander(self) then break end
  end
  if self.best and self.least.seconds < self.best.seconds then self.best = self.least end
  prune(self)
  return self.best, self.curve
end

--- The same by drawing: each measurement is of a walk of one to four edits from the first schedule that was not measured before,
--- while such walks are found. What a search has to beat.
function M.random(from, how)
  local best, curve, draw, seen = nil, {}, drawing(how.seed or 1), {}
  local made, s, misses = how.make(from), from, 0
  while made and #curve < how.measurements and misses < DRAWS do
    local text = made.source .. made.plan
    if not seen[text] then
      local times, sum = how.measure(made), 0.0
      for _, t in ipairs(times or {}) do sum = sum + t end
      if times and (not best or sum < best.seconds) then best = { schedule = s, made = made, seconds = sum } end
      curve[#curve + 1], seen[text], misses = best and best.seconds or math.huge, true, 0
    else misses = misses + 1 end
    s, made = walk(how, from, draw)
  end
  return best, curve
end

return M
