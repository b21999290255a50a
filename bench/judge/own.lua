-- bench/judge/own.lua: is a task's own module, given as the candidate with rules off, ever rejected? What
-- the battery draws must be what the task's reference takes, and both must compute the same.
--   cawb bench/judge/own.lua -- TASKS.jsonl | TASK.py... [DEVICE, as cpu] [--fit] [--seconds N]
-- A .jsonl has one task a line, with name and code. Prints each rejection, what kinds reached less far
-- than they might, and JSON last.

local cawb = require "cawb"
local core = require "cawb.core"
local evaluate = require "cawb.run.evaluate"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local scale = require "cawb.task.scale"
local tasks = require "cawb.task.task"

local files, name, fit, seconds = {}, "cpu", false, math.huge
local words, i = { ... }, 1
while words[i] do
  local word = words[i]
  if word == "--fit" then fit = true
  elseif word == "--seconds" then
    i = i + 1
    seconds = assert(tonumber(words[i]), "--seconds takes a number")
  elseif word:find "%.jsonl?$" or word:find "%.py$" then files[#files + 1] = word
  else name = word end
  i = i + 1
end
assert(#files > 0, "usage: cawb bench/judge/own.lua -- TASKS.jsonl | TASK.py... [DEVICE] [--fit] [--seconds N]")

local scratch <close> = setmetatable({ path = os.tmpname() }, { __close = function(self)
  os.execute("rm -rf '" .. self.path .. "'")
end })
os.remove(scratch.path)
assert(core.fs.mkdir(scratch.path))

local function written(entry, n)
  local path = ("%s/t%d_%s.py"):format(scratch.path, n, entry.name:gsub("[^%w_]", "_"))
  local f = assert(io.open(path, "wb"))
  f:write(entry.code)
  f:close()
  return path
end

local list = {}
for _, file in ipairs(files) do
  if file:find "%.jsonl$" then
    for line in io.lines(file) do list[#list + 1] = written(assert(core.json.decode(line)), #list + 1) end
  else
    list[#list + 1] = file
  end
end

local device <close> = assert(cawb.device(name))
local process, hello = assert(python.start(cawb.defaults.deadlines.start))
local tally = { device = device.info.model or device.info.name, passed = 0, rejected = 0, not_admitted = 0, failed = 0, seconds = 0 }
local from = core.clock.now()

local function text(path)
  local f <close> = assert(io.open(path, "rb"))
  return (f:read("a"):gsub("%f[%w_]Model%f[^%w_]", "ModelNew"))
end

local function one(path)
  local all = options.copy(cawb.defaults)
  all.rules, all.measure.against, all.scale.mode, all.confirm.enabled = "off", {}, "none", false
  if fit then scale.fit(process, path, { info = { modelled = true, name = "a simulator" } }, all) end
  all.measure.rounds, all.verify.trials = 1, 2
  local task <close>, message, why = tasks.open(path, { device = device, options = all, host = { process, hello } })
  if not task then
    tally.not_admitted = tally.not_admitted + 1
    return why ~= "task" and ("not opened: " .. message) or nil
  end
  local facts
  facts, message = evaluate.candidate(task, cawb.candidate { python = text(path), name = "own" }, all, { samples = 2, budget = 0.1 })
  if not facts then
    tally.failed = tally.failed + 1
    return "FAILED: " .. message
  end
  tally[facts.ok and "passed" or "rejected"] = tally[facts.ok and "passed" or "rejected"] + 1
  tally.seconds = tally.seconds + facts.seconds.verify
  local left = {}
  for case, seen in pairs(facts.battery or {}) do
    if seen.left_out then left[#left + 1] = case .. ": " .. seen.left_out:sub(1, 90) end
  end
  if not facts.ok then return ("REJECTED: %s: %s"):format(facts.stage, facts.reason) end
  return #left > 0 and "left out " .. table.concat(left, "; ") or nil
end

for n, path in ipairs(list) do
  if core.clock.now() - from > seconds then
    tally.stopped_at = n - 1
    break
  end
  local began, said = core.clock.now(), one(path)
  print(("%-60s %6.1f s  %s"):format(path:match "([^/]*)%.py$":sub(1, 60), core.clock.now() - began, said or "passed"))
  io.stdout:flush()
end
process:close()
print(core.json.encode(tally))
return tally.rejected + tally.failed > 0 and 1 or 0
