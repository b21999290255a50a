-- journal: what was tried, a line of JSON each, so that a run that was ended goes on. Work comes in cells, each drawn from
-- the seed and its number alone; a cell that was begun is whole where a later one is there.

local core = require "cawb.core"
local seeds = require "cawb.base.seeds"

local M = {}

local Journal = {}
Journal.__index = Journal

local function take(self, row)
  self.rows[#self.rows + 1] = row
  self.cell = math.max(self.cell, row.cell)
end

--- The journal of a list and a seed ("all": of every seed, to count what several runs did), with what `path` (or nil)
--- holds of it.
function M.open(path, list, seed)
  local self = setmetatable({ rows = {}, cell = 0, list = list, seed = seed }, Journal)
  if not path then return self end
  local f = io.open(path)
  for line in f and f:lines() or function() end do
    local row = core.json.decode(line)
    if row and row.list == list and (seed == "all" or row.seed == seed) then take(self, row) end
  end
  if f then f:close() end
  self.file = assert(io.open(path, "a"))
  return self
end

--- The next cell: its number, and pick(lo, hi), which draws from its own numbers.
function Journal:next()
  self.cell = self.cell + 1
  local draw = seeds.generator(("%s:%s:%d"):format(self.list, self.seed, self.cell))
  return self.cell, function(lo, hi) return lo + draw "mutants" % (hi - lo + 1) end
end

function Journal:keep(row)
  row.seed, row.list = self.seed, self.list
  take(self, row)
  if not self.file then return end
  self.file:write(core.json.encode(row), "\n")
  self.file:flush()
end

return M
