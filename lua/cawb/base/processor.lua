-- processor: that of this machine.

local file = require "cawb.base.file"

local M = {}

local function about() return "\n" .. (file.read "/proc/cpuinfo" or "") end

--- How many cores it has, at least 1.
function M.cores() return math.max(1, (select(2, about():gsub("\nprocessor%s*:", "")))) end

--- What it calls itself.
function M.name() return about():match "\nmodel name%s*:%s*([^\n]+)" or "an unknown processor" end

return M
