-- all: the classes of bench/judge/classes.lua, and how their draws are judged. A class is a file beside this one that returns
-- { what = in words, draw = function(pick) } with pick(lo, hi) and pick(list); a draw is { task = Python, what = in words,
-- wrong = { source, plan }, right = { source, plan }, config = a name of configs/ that they are judged by, or nil }.

local cawb = require "cawb"
local core = require "cawb.core"
local file = require "cawb.base.file"
local judge = require "cawb.judge.judge"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local seeds = require "cawb.base.seeds"
local tasks = require "cawb.judge.task.task"

local M = { names = { "lasting", "whole", "slope", "hidden", "small", "undrawn", "owntype", "helper", "otherwise" } }

local folder = debug.getinfo(1, "S").source:match "^@(.*)/" or "."

-- What a draw is drawn with, by its number alone.
local function picker(class, seed, number)
  local next_number = seeds.generator(("%s:%s:%d"):format(class, seed, number))
  return function(lo, hi)
    if type(lo) == "table" then return lo[1 + next_number "class" % #lo] end
    return lo + next_number "class" % (hi - lo + 1)
  end
end

local function judged(task, pair, all)
  local from = core.clock.now()
  local c = cawb.candidate { source = pair[1], plan = pair[2] }
  local facts = assert(judge.judge(task, c, all, { once = true, against = {} }))
  return facts, core.clock.now() - from
end

local function try_one(row, drawn, at, how)
  local path = at .. "/task.py"
  assert(file.write(path, drawn.task))
  local all = options.copy(cawb.defaults)
  if drawn.config then assert(options.overlay(all, dofile(("%s/configs/%s.lua"):format(core.home, drawn.config)), drawn.config)) end
  local task <close>, message = tasks.open(path, { device = how.opened, options = all, host = how.host })
  if not task then error(("%s %d: %s: %s"):format(row.class, how.number, drawn.what, message)) end
  local wrong, spent = judged(task, drawn.wrong, all)
  local right, more = judged(task, drawn.right, all)
  row.drawn, row.seconds = row.drawn + 1, row.seconds + spent + more
  local hit = not wrong.ok and wrong.stage ~= "compile" and (wrong.stage ~= "plan" or wrong.rule ~= nil)
  row.caught, row.passed = row.caught + (hit and 1 or 0), row.passed + (right.ok and 1 or 0)
  if not hit then how.surprise(("%s %d: %s: PASSED %s"):format(row.class, how.number, drawn.what, tostring(wrong.reason or ""))) end
  if not right.ok then how.surprise(("%s %d: %s: the twin was REJECTED: %s"):format(row.class, how.number, drawn.what, tostring(right.reason))) end
  if how.told then how.told(("%s %d: %s: %s"):format(row.class, how.number, drawn.what, tostring(wrong.reason))) end
end

--- Judge `how.count` draws of a class: { class, what, drawn, caught, passed, seconds }. `how` = { device = a name, count =, seed =, first = the
--- number of the first draw (1), surprise = function(text), told = function(text) or nil }.
function M.try(class, how)
  local made = dofile(("%s/%s.lua"):format(folder, class))
  local row = { class = class, what = made.what, drawn = 0, caught = 0, passed = 0, seconds = 0.0 }
  local device <close> = assert(cawb.device(how.device))
  local host, hello = assert(python.start(cawb.defaults.deadlines.start))
  local at = os.tmpname()
  os.remove(at)
  assert(core.fs.mkdir(at))
  for number = how.first or 1, (how.first or 1) + how.count - 1 do
    local drawn = made.draw(picker(class, how.seed, number))
    try_one(row, drawn, at, setmetatable({ opened = device, host = { host, hello }, number = number }, { __index = how }))
  end
  host:close()
  os.remove(at .. "/task.py")
  os.remove(at)
  return row
end

return M
