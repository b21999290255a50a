-- bench/honest: are honest kernels ever rejected? Every rung of every ladder on every example
-- that it serves, verified with all rules on random seeds and shapes until COUNT verifications
-- are done.
--   cawb bench/judge/honest.lua -- [COUNT] [DEVICE] [KINDS, as mixed,zeros,nan]
-- The honest kernels of the red-team corpus take part, one of them in 16 bits. Prints each
-- rejection, and at the end how many of how many, by family.

local cawb = require "cawb"
local core = require "cawb.core"
local corpus = require "cawb.suite.redteam_kernels"
local evaluate = require "cawb.judge.evaluate"
local families = require "cawb.run.families"
local options = require "cawb.base.options"
local tasks = require "cawb.judge.task.task"

local count, name = tonumber(arg[1] or "100"), arg[2] or "sim:h100"
local kinds = {}
for word in (arg[3] or ""):gmatch "[^,]+" do kinds[#kinds + 1] = word end
if #kinds == 0 then kinds = cawb.defaults.verify.battery end

local random = core.clock.random
local function pick(lo, hi)
  local a, b = random(2):byte(1, 2)
  return lo + (a * 256 + b) % (hi - lo + 1)
end

local may_vary = { rows = true, cols = true, m = true, n = true, k = true, batch = true, size = true, in_features = true, out_features = true }

-- Sizes small enough for a simulator and odd enough for a kernel: a task's own constants say
-- what may vary.
local function shape_of(path)
  local f = assert(io.open(path))
  local text, set = f:read "a", {}
  f:close()
  for names, values in text:gmatch "\n([%w_, ]+) = ([%d, ]+)%f[\n]" do
    local value = values:gmatch "%d+"
    for key in names:gmatch "[%w_]+" do
      local was = tonumber(value())
      if may_vary[key] then set[key] = pick(math.max(1, was // 64), math.max(2, was // 8)) end
    end
  end
  return set
end

local device <close> = assert(cawb.device(name))
local files = {}
for _, file in ipairs(core.fs.list(core.home .. "/examples")) do
  if file:match "%.py$" then files[#files + 1] = ("%s/examples/%s"):format(core.home, file) end
end
for _, task in ipairs(corpus.tasks()) do files[#files + 1] = corpus.task(task) end

local done, bad, unfit, tally = 0, 0, 0, {}

-- Interrupted, by a limit of time perhaps: what was done until then counts.
local function stop(message, name_of)
  if name_of ~= "interrupted" and name_of ~= "task" then error(message, 0) end
  if name_of == "interrupted" then count = done end
end

local function try(task, candidate, all, shape)
  local facts, message, name_of = evaluate.candidate(task, candidate, all, { samples = 3, budget = 0.2 })
  if not facts then return stop(message, name_of) end
  if not facts.ok and facts.stage == "plan" and not facts.rule then
    unfit = unfit + 1                       -- the rung says that it does not serve this shape
    return
  end
  done = done + 1
  local family = candidate.name:match "^[^/]+"
  tally[family] = tally[family] or { verified = 0, rejected = 0 }
  tally[family].verified = tally[family].verified + 1
  if facts.ok then return end
  bad, tally[family].rejected = bad + 1, tally[family].rejected + 1
  print(("%s on %s %s: %s: %s"):format(candidate.name, task.name, core.json.encode(shape), facts.stage, facts.reason))
end

local function round(path)
  local shape, all = shape_of(path), options.copy(cawb.defaults)
  all.verify.trials, all.verify.battery, all.sweep.variants, all.measure.against = 1, kinds, 1, {}
  local task <close>, message, why = tasks.open(path, { device = device, options = all, task = shape })
  if not task then
    print(("%s %s: %s"):format(path, core.json.encode(shape), message))
    return stop(message, why)
  end
  if path:find "/cheats/tasks/" then return try(task, corpus.candidate(task.name), all, shape) end
  local family = families.match(task)
  for n = 1, family and #family.versions or 0 do
    if done < count then try(task, family:rung(n, task), all, shape) end
  end
end

while done < count do
  for _, path in ipairs(files) do
    if done < count then round(path) end
  end
end
local names = {}
for family in pairs(tally) do names[#names + 1] = family end
table.sort(names)
for _, family in ipairs(names) do
  print(("%-14s %5d verified, %d rejected"):format(family, tally[family].verified, tally[family].rejected))
end
print(("%d of %d verifications of honest kernels rejected (%d plans did not serve the shape)"):format(bad, done, unfit))
print(core.json.encode { device = device.info.model or device.info.name, verified = done, rejected = bad, families = tally })
return bad > 0 and 1 or 0
