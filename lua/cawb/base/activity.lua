-- activity: what this process does or waits for, for whoever shows it: a terminal's line, the store's readers. Whoever
-- begins something that may take long says so, and how far it is where that can be counted.

local core = require "cawb.core"

local M = {}

local under_way = {}            -- those begun and not ended, the oldest first
local asked = {}                -- of calls that ended: process -> op -> { count =, seconds = }

---@class cawb.Activity
local Activity = {}
Activity.__index = Activity

--- Count something that a process did, or was waited for, and how long that took.
function M.note(process, op, seconds)
  local ops = asked[process] or {}
  asked[process] = ops
  local sum = ops[op] or { count = 0, seconds = 0.0 }
  ops[op] = sum
  sum.count, sum.seconds = sum.count + 1, sum.seconds + seconds
end

--- It is over. What it began is over with it, in whatever order they are closed.
function Activity:close()
  for i, a in ipairs(under_way) do
    if a == self then
      table.remove(under_way, i)
      if self.process and self.op then
        M.note(self.process, self.part and self.op .. " " .. self.part or self.op, core.clock.now() - self.from)
      end
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

--- Begin something: `about` = { what = in words } or { process =, op =, request =, part = a kind of what is asked for } of a call; told: its parts are
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

--- How often processes were asked for what, and how long that took: a list of { process =, op =, count =, seconds = } in order of names.
function M.asked()
  local list = {}
  for process, ops in pairs(asked) do
    for op, sum in pairs(ops) do list[#list + 1] = { process = process, op = op, count = sum.count, seconds = sum.seconds } end
  end
  table.sort(list, function(a, b) return a.process .. " " .. a.op < b.process .. " " .. b.op end)
  return list
end

return M
