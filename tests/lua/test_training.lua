-- cawb report of a training log: what is drawn of it, what it says first, and what is said of a file that is none.

local check = dofile "tests/lua/check.lua"
local core = require "cawb.core"
local training = require "cawb.suite.training"

local dir = check.folder()

local function cawb(words) return check.shell(("'%s' %s 2>&1"):format(core.program, words)) end

-- A log of two steps of likelihood, a line of a stage as a whole, 30 steps of PPO, and the beginning of a line.
local function write_log(folder)
  assert(core.fs.mkdir(folder))
  local lines = {}
  local function line(row) lines[#lines + 1] = core.json.encode(row) end
  for step = 0, 1 do line { stage = "prior", step = step, asked = 10, loss = 5.0 - step } end
  line { stage = "rft", step = -1, asked = 20, kept = 3, trajectories = 8 }
  for step = 0, 29 do
    line { stage = "agentic", step = step, asked = 20 + step, reward = step / 10, entropy = 4.0, explained = 0.5, clipped = 0.0, invented = step,
           ["ratio_p1"] = 0.9, ["ratio_p99.9"] = 1.5, note = "words are no curve" }
  end
  check.write(folder .. "/log.jsonl", table.concat(lines, "\n") .. '\n{"stage": "agen')
  return folder
end

local one = write_log(dir .. "/one")

check.test("curves stand behind one another, stage by stage, what nobody planned for too", function()
  local log = assert(training.read(one)).logs[1]
  local names = {}
  for _, s in ipairs(log.stages) do names[#names + 1] = ("%s %d %s-%s"):format(s.name, s.steps, s.from, s.to) end
  check.equal(table.concat(names, "; "), "prior 2 1-2; rft 0 nil-nil; agentic 30 3-32")
  local charts = {}
  for i, c in ipairs(log.charts) do
    local keys = {}
    for k, curve in ipairs(c.curves) do keys[k] = curve.key end
    charts[i] = c.title .. ": " .. table.concat(keys, ", ")
  end
  check.equal(table.concat(charts, "; "), "reward: reward; entropy: entropy; explained variance: explained; clip ratio: clipped; "
    .. "importance ratio: ratio_p1, ratio_p99.9; loss: loss; asked: asked; invented: invented")
  local points = log.charts[1].curves[1].points
  check.equal(#points, 30)
  check.equal(points[1][1], 3)
  check.equal(points[30][2], 2.9)
end)

check.test("it says first what the reward came to, and from where", function()
  local answer = training.read(one .. "/log.jsonl").logs[1].answer
  check.equal(answer.headline, "reward 2.45 in stage agentic, mean of its last 10 steps")
  check.equal(answer.lines[1], "the mean of its first 10 steps: 0.45")
  check.matches(answer.lines[3], "rft: 0 steps %(asked 20, kept 3, trajectories 8%); agentic: 30 steps")
  check.equal(answer.good, true)
end)

check.test("a folder of runs is all of them; as text too", function()
  write_log(dir .. "/table/runs/full-1")
  write_log(dir .. "/table/runs/full-2")
  check.equal(assert(training.read(dir .. "/table")).title, "2 training runs in table")
  local out, status = cawb("report " .. dir .. "/table --markdown")
  check.equal(status, 0, out)
  check.matches(out, "#### full%-2\n\n%*%*reward 2%.45 in stage agentic")
  check.matches(out, "| agentic | invented | 30 | 0 | 29 |")
  check.matches(cawb("report " .. one .. " --csv"), "one,agentic,29,reward,2.9\n")
  check.matches(cawb("report " .. one), "one/report.html")
end)

check.test("what is no log is said with its line", function()
  local bad = check.write(dir .. "/bad.jsonl", '{"stage": "prior", "step": 0, "loss": 1}\n{"loss": 2}\n')
  local err, status = cawb("report " .. bad)
  check.equal(status, 2)
  check.matches(err, "bad.jsonl:2: no line of a training log: 'stage' and 'step' are expected")
  err, status = cawb("report " .. check.write(dir .. "/empty.jsonl", ""))
  check.equal(status, 2)
  check.matches(err, "there is no step in it yet")
  err, status = cawb("report " .. one .. " --run r")
  check.equal(status, 2)
  check.matches(err, "%-%-run names a run of a store")
  assert(core.fs.mkdir(dir .. "/none"))
  err, status = cawb("report " .. dir .. "/none")
  check.equal(status, 2)
  check.matches(err, "none: there is no store in it, and no training log")
  err, status = cawb("report " .. dir .. "/nowhere")
  check.equal(status, 2)
  check.matches(err, "nowhere: there is no such folder or file")
end)

return check.done()
