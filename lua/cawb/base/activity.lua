-- activity: what this process does or waits for, for whoever shows it: a terminal's line, the store's readers. Whoever
-- begins something that may take long says so, and how far it is where that can be counted.

local core = require "cawb.core"

local M = {}

local under_way = {}            -- those begun and not ended, the oldest first

---@class cawb.Activity
local Activity = {}
Activity.__index = Activity

--- It is over. What it began is over with it, in whatever order they are closed.
function Activity:close()
  for i, a in ipairs(under_way) do
    if a == self then
      table.remove(under_way, i)
      return
    end
  end
end
Activity.__close = Activity.close

--- So many of so many parts are done.
function Activity:step(done, total)
  if done > (self.done or 0) then self.last = core.clock.now() end
  self.done, self.total = done, total
end

--- Seconds until all parts are done, if the others take as long as those that are done; nil before the first is.
function Activity:left()
  if not (self.total and self.done and self.done > 0 and self.last) then return nil end
  local each = (self.last - self.from) / self.done
  return math.max(0, each * (self.total - self.done) - (core.clock.now() - self.last))
end

--- Begin something: `about` = { what = in words } or { process =, op =, request = } of a call; told: its parts are
--- counted in other words already. It ends with its scope
--- (`local a <close> = activity.begin { ... }`), or by close.
function M.begin(about)
  local a = setmetatable(about, Activity)
  a.from, a.wall = core.clock.now(), core.clock.wall()
  under_way[#under_way + 1] = a
  return a
end

--- What is under way, the oldest first. Not to be changed.
function M.list() return under_way end

return M
