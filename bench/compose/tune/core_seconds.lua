-- Seconds of a core that this process and those that it started have taken, as Linux counts them: what a busy machine does not change.

local file = require "cawb.base.file"

local TICKS = 100           -- of a second, in /proc

local function fields(pid)
  local list = {}
  for word in ((file.read(("/proc/%s/stat"):format(pid)) or ""):match "%)%s(.*)" or ""):gmatch "%S+" do list[#list + 1] = word end
  return list
end

-- Its own time and that of children that have ended, then that of those that have not.
local function seconds(pid)
  local list, sum = fields(pid), 0.0
  for k = 12, 15 do sum = sum + (tonumber(list[k]) or 0) / TICKS end
  for child in (file.read(("/proc/%s/task/%s/children"):format(pid, pid)) or ""):gmatch "%d+" do sum = sum + seconds(child) end
  return sum
end

local function own() return (file.read "/proc/self/stat" or ""):match "^%d+" or "self" end

return function() return seconds(own()) end
