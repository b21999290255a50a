-- bench/judge/classes.lua: is a wrong kernel caught by its class, or only where somebody wrote it down? Each class of mistakes
-- (classes/NAME.lua) draws tasks with a wrong kernel and an honest twin. COUNT draws of each class, or of those that are named.
--   cawb bench/judge/classes.lua -- [COUNT] [SEED] [DEVICE] [CLASS,...]
-- Prints each surprise, then a table by class, and JSON last.

local root = arg[0]:match "^(.*)/" or "."
package.path = ("%s/?.lua;%s"):format(root, package.path)

local cawb = require "cawb"
local classes = require "classes.all"
local core = require "cawb.core"
local seeds = require "cawb.base.seeds"

local count, seed, name = tonumber(arg[1] or "20"), arg[2] or seeds.fresh(), arg[3] or "sim:h100"
local rows = {}
for class in (arg[4] or table.concat(classes.names, ",")):gmatch "[^,]+" do
  local row = classes.try(class, { device = name, count = count, seed = seed, surprise = function(text)
    print(text)
    io.stdout:flush()
  end })
  rows[#rows + 1] = row
  print(("%-12s %s\n             caught %d of %d, honest twins passed %d of %d, %.1f s a verdict"):format(class, row.what, row.caught, row.drawn,
    row.passed, row.drawn, row.seconds / (2 * row.drawn)))
  io.stdout:flush()
end

local wrong = 0
print "\nclass         caught    twins pass"
for _, row in ipairs(rows) do
  print(("%-12s  %3d of %-3d %3d of %d"):format(row.class, row.caught, row.drawn, row.passed, row.drawn))
  wrong = wrong + 2 * row.drawn - row.caught - row.passed
end
print(core.json.encode { device = name, seed = seed, classes = rows, version = cawb.version, when = os.date "!%Y-%m-%d" })
return wrong > 0 and 1 or 0
