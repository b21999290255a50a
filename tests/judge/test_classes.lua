-- The classes of mistakes of bench/judge/classes.lua: of each a few are drawn; all are caught, and no honest twin is rejected.

local check = dofile "tests/support/check.lua"

package.path = "bench/judge/?.lua;" .. package.path
local classes = require "classes.all"
local seeds = require "cawb.base.seeds"

local DRAWS = 2                   -- the benchmark draws twenty

for _, class in ipairs(classes.names) do
  check.test(class .. ": what is drawn is caught, and its honest twin passes", function()
    local surprises = {}
    local row = classes.try(class, { device = "sim:h100", count = DRAWS, seed = seeds.fresh(class),
      surprise = function(text) surprises[#surprises + 1] = text end })
    check.equal(table.concat(surprises, "\n"), "")
    check.equal(row.caught, DRAWS)
  end)
end

return check.done()
