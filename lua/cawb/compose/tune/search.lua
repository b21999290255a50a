-- search: a better schedule by measurement. A measurement tries all kernels of a plan at once, since the times of single launches tell
-- them apart. Each kernel gets the options that should gain it most, by a model (tune/model.lua). The model learns from similar
-- kernels (tune/records.lua) and from the measurements. The best options of each kernel make the best plan. Edits that change the
-- set of kernels (cuts, rewrites) are tried one at a time, once they promise more than options do (tune/structure.lua). Kernels that
-- such an edit does not touch try their next options beside it. If nothing promises a gain, random walks of a few edits from the
-- best schedule follow.

local lists = require "cawb.base.lists"
local models = require "cawb.compose.tune.model"
local ranking = require "cawb.compose.tune.ranking"
local records = require "cawb.compose.tune.records"
local schedule = require "cawb.compose.schedule.schedule"
local cache_key = require "cawb.compose.tune.cache_key"
local structure = require "cawb.compose.tune.structure"
local random_search = require "cawb.compose.tune.random_search"

local M = {}

local GAIN = 0.997         -- of the best time so far: only a time below it is a gain
local DRAWS = 60           -- walks in a row that lead to nothing new, or nowhere, before a search ends
local LIKE, NEAREST = 0.05, 80     -- records that say something of a kernel: how much alike, and how many at most
local TRIES = 60           -- plans in a row that say nothing new, before options count as spent

local function spent(self) return self.left <= 0 or self.stop() end

-- ---- what was seen

-- Times of kernels that were all measured before, in other company; nil where one was not.
local function known_times(self, made)
  local times = {}
  for k, kernel in ipairs(made.kernels) do
    local name = cache_key.of(kernel)
    times[k] = name and self.seen[name]
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

-- A kernel's name by the nodes that it computes. If an edit of the plan does not touch a kernel, its measurements still hold.
local function name_of(kernel)
  local labels = lists.map(kernel.members, function(x) return x.label or "" end)
  return table.concat({ schedule.key(kernel), ":", table.unpack(labels) }, " ")
end

-- A model of options, from the records of the most similar kernels.
local function expectation(near)
  local model, list = models.new(), lists.filter(near, function(r) return r.weight > LIKE end)
  table.sort(list, function(a, b) return a.weight > b.weight end)
  for k = 1, math.min(NEAREST, #list) do model:learn(list[k].own, list[k].change, list[k].weight) end
  return model
end

-- The results of a kernel: its options with their changes, as logarithms over its first time. `dull` are edits that do not change
-- its text.
local function kernel_of(self, kernel, own, seconds)
  local name = name_of(kernel)
  local one = self.kernels[name]
  if not one then
    local about = records.about(kernel)
    local near = self.records:near(about)
    one = { name = name, key = schedule.key(kernel), about = about, near = near, seen = {}, model = expectation(near), first = seconds, best = 0.0, own = own,
            tried = {}, dull = {}, base = next(own) == nil and cache_key.of(kernel) or nil }
    self.kernels[name] = one
  end
  return one
end

-- Records a kernel's options and its time. Kernels that take no time in a call, as those before the first call, are left out.
local function note(self, kernel, own, seconds)
  if not (seconds > 0) then return end
  local one = kernel_of(self, kernel, own, seconds)
  local change = math.log(seconds / one.first)
  local text = records.text(own)
  if one.tried[text] == true then return end
  one.tried[text] = true
  one.seen[#one.seen + 1] = { own = own, change = change }
  one.model:learn(own, change)
  if self.learn then self.learn(one.about, own, change) end
  if change < one.best + math.log(GAIN) then one.best, one.own = change, own end
end

local function own_of(s, key) return (s.kernels or {})[key] or {} end

-- One measurement: { made, seconds, times = by kernel's name }; nil where nothing could be made or ran.
local function look(self, s, made)
  made = made or self.make(s)
  if not made or self.texts[made.source .. made.plan] then return nil end
  self.texts[made.source .. made.plan] = true
  self.fresh = false
  local times = known_times(self, made) or measured(self, made)
  if not times then return nil end
  local result = { made = made, schedule = s, seconds = 0.0, times = {}, list = times }
  for k, kernel in ipairs(made.kernels) do
    local key, name = schedule.key(kernel), cache_key.of(kernel)
    result.seconds, result.times[key] = result.seconds + times[k], times[k]
    if name then self.seen[name] = times[k] end
  end
  if not self.least or result.seconds < self.least.seconds then self.least = result end
  self.curve[#self.curve + (self.fresh and 1 or 0)] = self.least.seconds      -- what needs no measurement is known with the last one
  return result
end

local function note_all(self, result)
  for _, kernel in ipairs(result and result.made.kernels or {}) do
    local key = schedule.key(kernel)
    note(self, kernel, own_of(result.schedule, key), result.times[key])
  end
  return result
end

local function take(self, result)
  if result and (not self.best or result.seconds < GAIN * self.best.seconds) then
    self.best = result
    return true
  end
  return false
end

-- ---- rounds: options of all kernels at once

local function with_own(s, key, own)
  local new = schedule.apply(s, { kernel = key, name = "vector" })
  new.kernels = new.kernels or {}
  new.kernels[key] = next(own) and own or nil
  new.kernels = next(new.kernels) and new.kernels or nil
  return new
end

-- The schedule in which each kernel has its best options.
local function assembled(self)
  local s = self.best.schedule
  for _, kernel in ipairs(self.best.made.kernels) do
    local one = self.kernels[name_of(kernel)]
    if one then s = with_own(s, one.key, one.own) end
  end
  return s
end

local function kernels_by_key(made)
  local by = {}
  for _, kernel in ipairs(made.kernels) do by[schedule.key(kernel)] = kernel end
  return by
end

local function is_alike(self, made)
  local by = kernels_by_key(made)
  return #made.kernels == #self.best.made.kernels and lists.all(self.best.made.kernels, function(kernel) return by[schedule.key(kernel)] end)
end

-- For each kernel of the best plan the options to try, the most promising first, and the seconds that the first ones promise.
local function ranked(self)
  local edits, trials, sum = ranking.edits(self.best.made), {}, 0.0
  for _, kernel in ipairs(self.best.made.kernels) do
    local key = schedule.key(kernel)
    local one = self.kernels[name_of(kernel)]
    if edits[key] and one then
      local list = ranking.ranked(one, edits[key], self.draw)
      if #list > 0 then
        trials[#trials + 1] = { one = one, list = list, at = 1 }
        sum = sum + list[1].gain * self.best.times[key]
      end
    end
  end
  return trials, sum
end

-- Which kernels of a plan that was made would be measured for the first time. Those whose text is known say so for nothing, and go
-- on to their next options.
local function advance(self, trials, made)
  local by, fresh, moved = kernels_by_key(made), false, false
  for _, l in ipairs(trials) do
    local kernel = by[l.one.key]
    local name, entry = kernel and cache_key.of(kernel), l.list[l.at]
    if entry and name and name == l.one.base then ranking.dull(l.one, entry.own) end
    if entry and name and self.seen[name] then
      note(self, kernel, entry.own, self.seen[name])
      l.at, moved = l.at + 1, true
    elseif entry then fresh = true end
  end
  return fresh, moved
end

local function proposal(self, trials)
  local s = assembled(self)
  for _, l in ipairs(trials) do
    if l.list[l.at] then s = with_own(s, l.one.key, l.list[l.at].own) end
  end
  return s
end

-- Options that cannot be made, or that change the set of kernels, are not tried again.
local function give_up(trials)
  for _, l in ipairs(trials) do
    if l.list[l.at] then l.one.tried[records.text(l.list[l.at].own)] = "not" end
    l.at = l.at + 1
  end
end

-- The next plan with something new for some kernel: its schedule and its candidate; nil if there is none.
local function next_plan(self, trials)
  for _ = 1, TRIES do
    if spent(self) then return nil end
    local s = proposal(self, trials)
    local made = self.make(s)
    if not made or not is_alike(self, made) then give_up(trials)
    else
      local fresh, moved = advance(self, trials, made)
      if not moved then return fresh and s or nil, made end
    end
  end
  local s = proposal(self, trials)
  local made = self.make(s)
  if made and is_alike(self, made) and advance(self, trials, made) then return s, made end
end

-- The best of each kernel, where that is known already or may be measured.
local function gather(self)
  if self.stop() then return end
  local s = assembled(self)
  local made = self.make(s)
  if made and (self.left > 0 or known_times(self, made)) then take(self, note_all(self, look(self, s, made))) end
end

local function options_round(self, trials)
  local s, made = next_plan(self, trials)
  if not s then return false end
  local result = look(self, s, made)
  if not result then
    give_up(trials)
    return true
  end
  note_all(self, result)
  take(self, result)
  gather(self)
  return true
end

-- ---- edits that change the set of kernels

-- The results of such edits, here and elsewhere, like the records of a kernel.
local function plan_of(self, edit)
  local kind = structure.kind(edit)
  if not self.plans[kind] then
    local about = { by = kind, written = 0, read = 0, row = 0, members = math.log(#self.best.made.kernels, 2) }
    self.plans[kind] = { about = about, model = structure.model(self.records:near(about)) }
  end
  return self.plans[kind]
end

-- The one that promises most of those that were not tried, with its name and the seconds that it promises.
local function structural(self)
  local best, name, hope
  for _, edit in ipairs(schedule.legal(self.best.made)) do
    local text = not edit.kernel and schedule.text(schedule.apply({}, edit))
    if text and not self.tried[text] then
      local gain = structure.hope(self.best, edit, plan_of(self, edit).model)
      if not best or gain > hope then best, name, hope = edit, text, gain end
    end
  end
  return best, name, hope
end

-- A schedule with the next options of all kernels that an edit does not touch: they have times of their own.
local function with_trials(s, made, trials)
  local by = kernels_by_key(made)
  for _, l in ipairs(trials) do
    local kernel = by[l.one.key]
    if kernel and name_of(kernel) == l.one.name then s = with_own(s, l.one.key, l.list[1].own) end
  end
  return s
end

-- Seconds of those kernels of one result that another one has not.
local function alone(result, other)
  local names = lists.set(lists.map(other.made.kernels, name_of))
  return lists.sum(result.made.kernels, function(kernel, k) return names[name_of(kernel)] and 0 or result.list[k] end)
end

local function learn_structure(self, edit, before, result)
  local plan = plan_of(self, edit)
  local change = structure.change(before, edit, alone(result, before) - alone(before, result))
  structure.learn(plan.model, edit, change)
  if self.learn then self.learn(plan.about, {}, change) end
end

-- Beside the edit, other kernels try their next options; then it is taken for itself, if it is better so.
local function structural_round(self, edit, name, trials)
  self.tried[name] = true
  local before, plain = self.best, schedule.apply(assembled(self), edit)
  local made = self.make(plain)
  local result = made and (look(self, with_trials(plain, made, trials)) or look(self, plain))
  if not result then return true end
  learn_structure(self, edit, before, result)
  take(self, note_all(self, result))
  for _, s in ipairs { schedule.apply(assembled(self), edit), assembled(self) } do
    made = self.make(s)
    if made and known_times(self, made) then take(self, look(self, s)) end
  end
  return true
end

-- Edits without those that are known to change nothing.
local function telling(self)
  local dull = {}
  for _, kernel in ipairs(self.best.made.kernels) do
    local one = self.kernels[name_of(kernel)]
    dull[schedule.key(kernel)] = one and one.dull
  end
  return function(edits)
    return lists.filter(edits, function(edit) return not (edit.kernel and ranking.is_dull(dull[edit.kernel], edit)) end)
  end
end

-- Several edits at once, from the best schedule, more if there are more kernels: each kernel has a time of its own. A plan of kernels
-- that were all measured cannot be better than the plan of the best ones. False if too many draws in a row gave nothing new.
local function wander(self)
  local choice, most = telling(self), math.max(2, #self.best.made.kernels)
  for _ = 1, DRAWS do
    if spent(self) then return false end
    local s, made = random_search.steps(self.make, self.best.schedule, self.best.made, 1 + self.draw(most), self.draw, choice)
    local result = made and not known_times(self, made) and look(self, s, made)
    if result then
      take(self, note_all(self, result))
      return true
    end
  end
  return false
end

-- The next round, by the larger promise: options of all kernels, or an edit of the set of kernels.
local function next_round(self)
  local trials, sum = ranked(self)
  local edit, name, hope = structural(self)
  if edit and (#trials == 0 or hope > sum) then return structural_round(self, edit, name, trials) end
  if #trials > 0 and options_round(self, trials) then return true end
  if spent(self) then return false end
  if edit then return structural_round(self, edit, name, {}) end
  return wander(self)
end

--- Searches from a schedule. Returns the best { schedule, made, seconds, times }, or nil if the first could not be measured; and
--- the curve: the best seconds after each measurement. `how`:
---   make(schedule)               returns a candidate, as candidate.make does, or nil
---   measure(made)                returns the seconds of each kernel, in order, or nil
---   measurements                 at most
---   stop()                       whether to end
---   seed
---   records                      results of similar kernels (tune/records.lua)
---   learn(about, options, change)  is called with each result
---   hints                        schedules that were best elsewhere, measured behind the first one
function M.search(from, how)
  local self = { make = random_search.cached(how.make), measure = how.measure, stop = how.stop or function() return false end,
                 draw = random_search.drawing(how.seed or 1),
                 left = how.measurements, records = how.records or records.new(), learn = how.learn, seen = {}, texts = {}, tried = {},
                 kernels = {}, plans = {}, curve = {} }
  take(self, note_all(self, look(self, from)))
  for _, hint in ipairs(self.best and how.hints or {}) do
    if not spent(self) then take(self, note_all(self, look(self, hint))) end
  end
  while self.best and not spent(self) and next_round(self) do end
  if self.best and self.least.seconds < self.best.seconds then self.best = self.least end
  return self.best and random_search.pruned(self.make, self.best), self.curve
end

return M
