-- lane: who may use what cannot be disturbed. Many may be on it together, or one alone: what is timed on a GPU has it to
-- itself, while what several places do there otherwise goes on at once. Who wants it alone comes before those who do not.

local activity = require "cawb.base.activity"
local core = require "cawb.core"
local loop = require "cawb.base.loop"

local M = {}

local Lane = {}
Lane.__index = Lane

local function free(self, alone)
  if self.alone then return false end
  return alone and self.together == 0 or not alone and self.waiting == 0
end

-- A finalizer cannot wait: what it ends would stay.
local function can_wait()
  local _, main = coroutine.running()
  return main or coroutine.isyieldable()
end

local function wait(self, alone)
  if free(self, alone) or not can_wait() then return true end
  local from = core.clock.now()
  self.waiting = self.waiting + (alone and 1 or 0)
  local ok, message, name = loop.wait(function() return free(self, alone) end)
  self.waiting = self.waiting - (alone and 1 or 0)
  activity.note("turn", alone and "alone" or "with others", core.clock.now() - from)
  return ok, message, name
end

local function enter(self, alone)
  local ok, message, name = wait(self, alone)
  if not ok then return nil, message, name end
  if alone then self.alone = true else self.together = self.together + 1 end
  return true
end

local function leave(self, alone)
  if alone then self.alone = false else self.together = self.together - 1 end
end

--- Call f(...) on it, `alone` or with others, when there is room. What f calls must not enter again. Returns what f returned,
--- or nil, message, name.
function Lane:hold(alone, f, ...)
  local ok, message, name = enter(self, alone)
  if not ok then return nil, message, name end
  local results = table.pack(pcall(f, ...))
  leave(self, alone)
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

--- A lane that nobody is on.
function M.new() return setmetatable({ together = 0, waiting = 0, alone = false }, Lane) end

return M
