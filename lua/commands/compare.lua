-- cawb compare A B TASK.py: is B, a newer version of a kernel, slower than A? For CI: the exit status says so.

local command = require "cawb.door.command"
local contest = require "cawb.door.contest"
local core = require "cawb.core"
local display = require "cawb.base.display"
local job = require "cawb.door.job"
local kinds = require "cawb.gpu.kinds"
local needed = require "cawb.base.need"
local scale = require "cawb.judge.task.scale"
local task = require "cawb.judge.task.task"
local versions = require "cawb.door.versions"

local M = { summary = "is one version of a kernel slower than another: cawb compare A B TASK.py" }

M.usage = [[
usage: cawb compare A B TASK.py [flags]

  A, B       the old and the new version: candidates, as of cawb judge, or those of a commit, as main:kernels/my.cu
  --seconds  the longest that samples are taken for (10)
  --json     one JSON object in place of the page
  --device, --set, --config, --scale, --seed    as of a run

Both are checked like any candidate. Then they take turns on the same secret inputs, until it is known which is faster.

exit codes: 0 nothing shows that B is slower; 1 B is slower; 2 one of them is wrong; 3 it could not be judged
]]

local need, sound = command.need, command.sound
local codes = { faster = 0, same = 0, undecided = 0, slower = 1, wrong = 2 }

local function words_of(argv)
  local given, parsed = command.parse(argv, { ["--seconds"] = "value" })
  if #parsed.words ~= 3 then command.wrong "two versions and a task are needed: cawb compare A B TASK.py [flags]" end
  given.seconds = tonumber(given.seconds or 10)
  if not given.seconds or given.seconds <= 0 then command.wrong "--seconds needs a number above 0" end
  return given, parsed
end

local function percent(x) return ("%.1f%%"):format(100 * math.abs(x)) end

local function signed(x) return ("%+.1f%%"):format(100 * x) end

-- The answer in a line.
local function sentence_of(c, modelled)
  local more = ("%s %s time than A"):format(percent(c.median), c.median < 0 and "less" or "more")
  if c.rounds and c.lo and c.hi then more = ("%s [%s, %s]"):format(more, signed(c.lo), signed(c.hi)) end
  if modelled then more = more .. " (modelled)" end
  if c.verdict == "undecided" then return "undecided: nothing shows that B is slower; it takes " .. more end
  return ("%s: B takes %s"):format(c.verdict == "same" and "the same" or c.verdict, more)
end

-- Fill in what came of it.
local function compared(r, t, all, seconds)
  local found = need(contest.compare(t, r.versions[1].candidate, r.versions[2].candidate, all, seconds))
  r.change, r.verdict = found.change, found.verdict
  r.sentence = found.reason or sentence_of(found.change, r.modelled)
  for i, facts in ipairs(found.facts) do r.versions[i].error, r.versions[i].time_s = facts.error, facts.time_s end
end

local function error_of(e) return e and e.nrms and ("%.2g"):format(e.nrms) or "-" end

local function print_page(r)
  print(r.sentence .. "\n")
  local rows = {}
  for i, v in ipairs(r.versions) do rows[i] = { ({ "A", "B" })[i], v.word, v.time_s and display.interval(v.time_s) or "-", error_of(v.error) } end
  command.print_table({ "", "version", r.modelled and "modelled time" or "time", "rms error" }, rows)
  if r.change and r.change.rounds then print(("%d paired rounds"):format(r.change.rounds)) end
end

local function print_json(r)
  local data = { verdict = r.verdict, sentence = r.sentence, change = r.change, device = r.device, modelled = r.modelled, versions = {} }
  for i, v in ipairs(r.versions) do data.versions[i] = { name = v.name, version = v.word, time_s = v.time_s, error = v.error } end
  io.stdout:write(core.json.encode(data), "\n")
end

-- What is compared.
local function versions_of(words)
  local list = {}
  for i = 1, 2 do
    list[i] = { name = i == 1 and "A" or "B", word = words[i], candidate = sound(versions.candidate(words[i])) }
  end
  if (list[1].candidate.python ~= nil) ~= (list[2].candidate.python ~= nil) then
    command.wrong "one of the two is Python, the other a kernel with a plan: their times are not taken in the same way"
  end
  return list
end

local function answered(argv)
  local given, parsed = words_of(argv)
  local all = command.options(parsed)
  scale.prepare(all)
  local list = versions_of(parsed.words)
  local device <close> = command.device(parsed.device, all)
  local refused = kinds.refusal(device, list[1].candidate.python and "python" or "kernels")
  if refused then command.wrong(refused) end
  local t <close> = need(task.open(parsed.words[3], { device = device, seed = parsed.seed, options = all }))
  local r = { versions = list, device = device.info.name, modelled = device.info.modelled }
  compared(r, t, all, given.seconds)
  if parsed.json then print_json(r) else print_page(r) end
  return codes[r.verdict]
end

function M.main(argv)
  local code, message, name = needed.caught(answered, argv)
  if code then return code end
  io.stderr:write("cawb compare: ", message, "\n")
  return name == "interrupted" and job.codes.interrupted or 3
end

return M
