-- Python candidates (tier 2): the whole corpus of tests/judge/cheats/tier2 on the CPU, and what a
-- user sees of them.
--   CAWB_TEST_JAIL=landlock takes that jail; CAWB_TEST_DEVICE=cuda:0 runs them on a GPU.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local evaluate = require "cawb.judge.evaluate"
local options = require "cawb.base.options"
local python_candidate = require "cawb.judge.python_candidate"
local redteam = require "cawb.suite.redteam"
local fixtures = require "cawb.suite.redteam_python"

local device <close> = assert(cawb.device(os.getenv "CAWB_TEST_DEVICE" or "cpu"))

-- Under sanitizers, which are slow, a part of the corpus goes through the same code.
local some = os.getenv "CAWB_TEST_BRIEF" and "^judge_" or nil

-- What the corpus would leave behind if it could.
local traces = { "/tmp/result.pt", "/dev/shm/result.pt", "/tmp/large", "/tmp/reward.txt",
                 core.home .. "/sitecustomize.py", core.home .. "/python/cawb_host/judge/jailed/sitecustomize.py" }

-- Processes that the jail host has: none between two evaluations.
local function inmates()
  local pid, count = device.jail_host:pid(), 0
  local list <close> = assert(io.popen "ps -e -o ppid=")
  for line in list:lines() do
    if tonumber(line) == pid then count = count + 1 end
  end
  return count
end

check.test("every cheat says what it is and has a look-alike", function()
  local list = assert(fixtures.fixtures(redteam.folder() .. "/tier2"))
  assert(#list >= 50, #list .. " fixtures")
  for _, f in ipairs(list) do
    local layer = { rules = true, judge = true, jail = true, numbers = true }
    assert(layer[f.layer], f.name .. ": caught by " .. tostring(f.layer))
  end
end)

-- A corpus of one file whose head and fixtures are given.
local function corpus(...)
  local folder = check.folder()
  check.write(folder .. "/some.py", table.concat({ ... }, "\n"))
  return fixtures.fixtures(folder)
end

local head = "# Some cheats.\n# task: softmax\n# met by: us\nimport torch\ndef own(x):\n    return x\nclass ModelNew(torch.nn.Module):\n    y = 1"
local cheat = "# ---- output_same: the input\n# caught by: numbers: how\ndef forward(self, x):\n    return x"
local alike = "# ---- output_own_honest: its own\n# looks like: output_same\nimport os\n\ndef forward(self, x):\n    return own(x)"

check.test("a fixture has its own fields and code, and of its file's head what it lacks", function()
  local f = assert(corpus(head, cheat, alike))[1]
  check.equal(f.head["met by"], "us")
  check.equal(f.layer, "numbers")
  local function words(text) return (text:gsub("%s+", " ")) end
  check.equal(words(f.python), "import torch class ModelNew(torch.nn.Module): y = 1 def forward(self, x): return x ")
  local h = f.look_alikes[1]
  check.equal(h.head["met by"], nil)
  check.equal(words(h.python),
    "import os import torch def own(x): return x class ModelNew(torch.nn.Module): y = 1 def forward(self, x): return own(x) ")
  local whole = "import torch\ndef own(x):\n    return x + 1\nclass ModelNew(torch.nn.Module):\n    forward = own"
  h = assert(corpus(head, cheat, (alike:gsub("import os.*", whole))))[1].look_alikes[1]
  check.equal(words(h.python), words(whole) .. " ")
end)

check.test("what is wrong with a fixture is told with its file and its name", function()
  for message, files in pairs {
    ["output_same: .*no line '# caught by: ...'"] = { head, (cheat:gsub("# caught[^\n]*\n", "")), alike },
    ["output_same: .*no line '# task: ...'"] = { (head:gsub("# task[^\n]*\n", "")), cheat, alike },
    ["output_same: .*'caugth by' is no field"] = { head, (cheat:gsub("(# caught)", "# caugth by: x\n%1")), alike },
    ["output_same: .*neither a class ModelNew nor"] = { head, (cheat:gsub("def forward", "def backward")), alike },
    ["output_same: no look%-alike names it"] = { head, cheat },
    ["output_own_honest: it looks like 'output_other', which is no cheat on the task softmax"] =
      { head, cheat, (alike:gsub("like: output_same", "like: output_same, output_other")) },
    ["output_same: .*some.py has one of that name"] = { head, cheat, alike, cheat },
    ["other_same: a fixture's name begins with its family"] = { head, (cheat:gsub("output_same", "other_same")), alike },
    ["output_same, .*begins with '# %-%-%-%- NAME: what it does'"] = { head, (cheat:gsub("same:", "same,")), alike },
    ["its head has imports, functions and a class, not 'y = 1'"] = { head .. "\ny = 1", cheat, alike } } do
    local list, text = corpus(table.unpack(files))
    check.equal(list, nil, message)
    check.matches(text, "/some%.py: " .. message)
  end
end)

check.test("the strict rules catch every cheat at its layer, pass every look-alike, and nothing is left", function()
  local before = {}
  for i, path in ipairs(traces) do before[i] = core.fs.kind(path) end
  local s = assert(redteam.run(device, { rules = "strict", tier = 2, only = some, say = function(r)
    check.equal(inmates(), 0, r.name .. ": processes left")
    for i, path in ipairs(traces) do check.equal(core.fs.kind(path), before[i], r.name .. ": " .. path) end
  end }))
  for _, r in ipairs(s.fixtures) do
    assert(r.caught, r.name .. " passed")
    check.equal(r.rule ~= nil, r.layer == "rules", ("%s: caught by a rule? (%s)"):format(r.name, r.reason))
    assert(r.look_alike.ok, ("%s: %s was rejected: %s"):format(r.name, r.look_alike.name, r.look_alike.reason))
  end
  check.equal(s.catch_rate, 1, "catch rate")
  check.equal(s.false_alarms, 0, "false alarms")
end)

check.test("without rules those pass that only rules see", function()
  local s = assert(redteam.run(device, { rules = "off", tier = 2, only = "^work_[fot]" }))
  for _, r in ipairs(s.fixtures) do check.equal(r.caught, r.layer ~= "rules", r.name) end
end)

-- ---- one candidate

local honest = [[
import torch

class ModelNew(torch.nn.Module):
    def forward(self, x):
        e = torch.exp(x - x.amax(1, keepdim=True))
        return e / e.sum(1, keepdim=True)
]]

local function open(name, seed)
  return assert(cawb.task(("%s/tier2/tasks/%s.py"):format(redteam.folder(), name), { device = device, seed = seed }))
end

local function with(change)
  local all = options.copy(cawb.defaults)
  all.measure.budget = 0.2
  if change then change(all) end
  return all
end

local function judged(task, text, against, all)
  return assert(evaluate.candidate(task, cawb.candidate { python = text }, all or with(),
    { trials = 2, samples = 8, against = against or {} }))
end

check.test("facts: the jail, the times of both, what the file mentions", function()
  local task <close> = open "softmax"
  local facts = judged(task, honest, { "eager" })
  assert(facts.ok, facts.reason)
  check.equal(facts.tier, 2)
  check.matches(facts.jail, "seccomp")
  assert(#facts.samples >= 8 and facts.time_s.median > 0 and facts.speedup.eager.median > 0)
  check.equal(facts.modelled, false)
  assert(facts.battery.mixed, "no other inputs were tried")
  check.equal(facts.python.census.uses[1], "torch.exp")
  check.equal(facts.rules.flags[1].rule, "python_no_kernel")
  check.equal(facts.speedup.eager.processes, 4)
  local seen = {}
  for _, w in ipairs(facts.python.work.seen) do if w.calls then seen[w.name] = w.count end end
  assert(seen["aten::exp"] >= facts.python.work.calls and not seen["aten::softmax"], "what it executes was not seen")
  assert(facts.jail_lacks, "what the jail does not hold is not said")
end)

check.test("one who measures the same often draws processes from a crowd, and a task that is closed leaves none of them", function()
  local all = with(function(o) o.measure.processes, o.measure.rounds = 2, 3 end)
  local task = open("softmax", "crowd")
  local subject = assert(python_candidate.new(task, cawb.candidate { python = honest }, all, { against = { "eager" } }))
  assert(assert(subject:open {}).ok)
  assert(subject:crowd(3))
  local names = {}
  for _ = 1, 6 do
    local m, each = assert(subject:measure {}), 0
    for name in pairs(m.processes) do names[name], each = true, each + 1 end
    check.equal(each, 4)
  end
  local count, ended = 0, 0
  for _ in pairs(names) do count = count + 1 end
  assert(count > 4, "the same ones each time")
  subject:close()
  local rival = task.rivals.eager
  for _, worker in ipairs { rival, table.unpack(rival.more) } do
    worker.close = function() ended = ended + 1 end
  end
  task:close()
  check.equal(ended, 3)
end)

check.test("large inputs are tried with relations, in stages that share their seed", function()
  local task <close> = open "softmax"
  local facts = judged(task, honest, nil, with(function(all)
    all.verify.battery_bytes, all.verify.relations = 0, "all"
  end))
  assert(facts.ok, facts.reason)
  assert(facts.battery.rows.nrms < 1e-5 and not facts.battery.edges)
  check.matches(facts.battery.linear.left_out, "is not linear")
end)

check.test("weights go by name, then by shape; without a place they are a failure", function()
  local task <close> = open "linear"
  local text = [[
import torch

class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.%s = torch.nn.Parameter(torch.empty(narrow, wide))
        self.shift = torch.nn.Parameter(torch.empty(%s))

    def forward(self, x):
        return ((x[:, None] * self.matrix).sum(2) + self.shift).clamp(min=0)
]]
  local facts = judged(task, text:format("matrix", "narrow"))
  assert(facts.ok, facts.reason)
  check.equal(facts.python.renamed["fc.weight"], "matrix")
  check.equal(facts.python.renamed["fc.bias"], "shift")
  facts = judged(task, text:format("matrix", "narrow + 1"))
  check.equal(facts.stage, "compile")
  check.matches(facts.reason, "has no place for fc%.bias %[48%]; it has shift %[49%]")
end)

check.test("a mistake is told with its line, and what was printed last", function()
  local task <close> = open "softmax"
  local facts = judged(task, (honest:gsub("e / e.sum", "e / o.sum")))
  check.matches(facts.reason, "forward failed: line 6: NameError: name 'o' is not defined")
  facts = judged(task, "def f(:\n")
  check.matches(facts.reason, "cannot be read: line 1")
  facts = judged(task, "import torch\n")
  check.matches(facts.reason, "defines no class ModelNew")
  facts = judged(task, (honest:gsub("e = torch", "print('so far', flush=True); import os; os.abort(); e = torch")))
  check.matches(facts.reason, "SIGABRT.*it last printed: so far")
end)

check.test("no jail only where it is asked for, and that is said", function()
  local task <close> = open "softmax"
  local facts = judged(task, honest, nil, with(function(all) all.tier2.jail = "none" end))
  assert(facts.ok, facts.reason)
  check.equal(facts.jail, "nothing")
end)

check.test("without a control group it is stopped by signals, and that is said", function()
  local task <close> = open "softmax"
  local facts = judged(task, honest, nil, with(function(all) all.tier2.groups = false end))
  assert(facts.ok, facts.reason)
  check.matches(table.concat(facts.jail_lacks, "; "), "no control group")
end)

check.test("what a candidate may use follows the machine's size where nothing is said of it", function()
  local limits = require "cawb.judge.worker.jail_host".limits
  local nothing = { memory = 0, disk = 0, processes = 0, seconds = 1800 }
  local memory = tonumber(require "cawb.base.file".read("/proc/meminfo"):match "MemTotal:%s*(%d+) kB") << 10
  check.equal(limits(nothing).memory, memory // 2)
  check.equal(limits(nothing).disk, memory // 16)
  local processors = select(2, require "cawb.base.file".read("/proc/cpuinfo"):gsub("processor%s*:", ""))
  check.equal(limits(nothing).processes, 128 + 64 * processors)
  local given = limits { memory = 1 << 30, disk = 5 << 20, processes = 7, seconds = 9 }
  check.equal(given.memory, 1 << 30)
  check.equal(given.file, 5 << 20)
  check.equal(given.processes, 7)
  check.equal(given.seconds, 9)
end)

check.test("where a task has no such operator, PyTorch's may do small work, not all of it", function()
  local task <close> = open "variance"
  local text = [[
import torch

class ModelNew(torch.nn.Module):
    def forward(self, x):
        few = x[:, :%d]
        product = few @ torch.ones(few.shape[1], 1, device=x.device)
        d = x - x.mean(1, keepdim=True)
        return (d * d).sum(1) / (x.shape[1] - 1) + 0 * product[:, 0]
]]
  local facts = judged(task, text:format(4))
  assert(facts.ok, facts.reason)
  facts = judged(task, text:format(256))
  check.equal(facts.rule, "python_work")
  check.matches(facts.reason, "PyTorch executed aten::matmul")
end)

check.test("each kind of candidate has its devices", function()
  local simulated <close> = assert(cawb.device "sim:h100")
  local task <close> = assert(cawb.task("examples/softmax.py", { device = simulated }))
  local facts, message, name = evaluate.candidate(task, cawb.candidate { python = honest }, cawb.defaults, {})
  check.equal(facts, nil)
  check.equal(name, "unsupported")
  check.matches(message, "a Python candidate runs on cuda:N or cpu")
  local here <close> = open "softmax"
  facts, message = evaluate.candidate(here, assert(cawb.candidate "kernels/softmax/v3_shuffle"), cawb.defaults, {})
  check.equal(facts, nil)
  check.matches(message, "cpu runs Python candidates only; kernels run on sim:h100 or cuda:N")
end)

check.test("what a device cannot run is refused once, at the start", function()
  local task = "tests/judge/cheats/tier2/tasks/softmax.py"
  for words, what in pairs {
    ["strategies/ladder.lua " .. task .. " --device cpu"] = "cpu runs Python candidates only",
    ["bench strategies/ladder.lua tests/judge/cheats/tier2/tasks --device cpu --out %s"] = "cpu runs Python candidates only",
    ["profile " .. task .. " kernels/softmax/v3_shuffle --device cpu"] = "cpu runs Python candidates only",
    ["strategies/python.lua " .. task .. " --device sim:h100"] = "sim:h100 executes kernels only" } do
    local out, status = check.shell(("'%s' %s 2>&1"):format(core.program, words:format(check.folder())))
    check.equal(status, 2, words)
    check.matches(out, "^cawb[^\n]*: " .. what .. "[^\n]*\n$")
  end
end)

-- ---- commands

check.test("a strategy scores a file; its result and its folder are a Python candidate's", function()
  local folder = os.tmpname()
  os.remove(folder)
  assert(core.fs.mkdir(folder))
  local f <close> = assert(io.open(folder .. "/solution.py", "w"))
  f:write(honest)
  f:flush()
  -- With the Python found by its name alone: the jail's PATH is another one.
  local path, name = os.getenv "CAWB_PYTHON", "python3"
  local where = ""
  if path and path:find "/" then
    where, name = path:match "^(.*)/([^/]+)$"
    where = ("PATH='%s':\"$PATH\" CAWB_PYTHON=%s "):format(where, name)
  end
  local out, status = check.shell((where .. "'%s' strategies/python.lua tests/judge/cheats/tier2/tasks/softmax.py --device %s --json "
    .. "--quiet --set settings.file=%s/solution.py --set measure.against=eager --set measure.budget=0.2 --out %s/runs")
    :format(core.program, device.info.name, folder, folder))
  check.equal(status, 0, out)
  local result = assert(core.json.decode(out))
  local turn = result.turns[1]
  assert(turn.ok, turn.reason)
  check.equal(turn.tier, 2)
  check.matches(turn.jail, "seccomp")
  check.equal(assert(cawb.candidate(result.folder)).python, honest)
  check.shell(("rm -r '%s'"):format(folder))
end)

check.test("cawb doctor says which jail there is", function()
  local out = check.shell(("'%s' doctor"):format(core.program))
  check.matches(out, "jail +%a+ +[^\n]*seccomp")
end)

check.test("cawb redteam --tier 2: a table by family, exit codes", function()
  local run = function(words)
    return check.shell(("'%s' redteam --tier 2 --device %s %s 2>&1"):format(core.program, device.info.name, words))
  end
  local out, status = run "--only output_mean --quiet"
  check.equal(status, 0, out)
  check.matches(out, "A  output without the work +1 of 1")
  out, status = run "--only work_functional_alias --rules off --rules strict"
  check.equal(status, 1)
  check.matches(out, "work_functional_alias +PASSED")
  out, status = run "--tier 3"
  check.equal(status, 2)
  check.matches(out, "there are 1 and 2")
end)

-- ---- the task's own module as its candidate

local own = {
  probabilities = [=[
class Model(torch.nn.Module):
    def forward(self, p, target):
        return torch.nn.functional.binary_cross_entropy(p, target)
def get_inputs():
    return [torch.rand(16, 50), (torch.rand(16, 50) > 0.5).float()]]=],
  ["indices held as floats"] = [=[
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(12, 8, padding_idx=0)
    def forward(self, ids, mask):
        return (self.table(ids.long()) * mask.unsqueeze(-1)).sum(1)
def get_inputs():
    return [torch.randint(12, (16, 20)).float(), torch.ones(16, 20, dtype=torch.bool)]]=],
  ["plain attributes that are random"] = [=[
import random
scale = random.random()
shift = torch.randn(50)
class Model(torch.nn.Module):
    def __init__(self, power):
        super().__init__()
        self.weights, self.power, self.place = torch.randn(50), power, random.randrange(50)
        self.norm = torch.nn.BatchNorm1d(50).eval()
    def forward(self, x):
        return self.norm(x * self.weights + shift).abs() ** self.power * scale + x[:, self.place:self.place + 1]
def get_inputs():
    return [torch.rand(16, 50)]
def get_init_inputs():
    return [1 + random.random()]]=],
  ["labels and places in order"] = [=[
class Model(torch.nn.Module):
    def forward(self, x, labels, edges):
        return torch.nn.functional.cross_entropy(x, labels), torch.bucketize(x, edges) * x, torch.logsumexp(x.half(), 1)
def get_inputs():
    return [torch.randn(16, 10), torch.randint(10, (16,)), torch.linspace(-2, 2, 9)]]=],
}

check.test("a task's own module passes, whatever its inputs may not be", function()
  for what, text in pairs(own) do
    local path = os.tmpname() .. ".py"
    local f <close> = assert(io.open(path, "w"))
    f:write("import torch\n", text, "\n", text:find "get_init_inputs" and "" or "def get_init_inputs():\n    return []\n")
    f:close()
    local all = options.copy(cawb.defaults)
    all.rules, all.measure.against, all.verify.trials = "off", {}, 1
    local task <close> = assert(cawb.task(path, { device = device, options = all }))
    os.remove(path)
    local facts = assert(evaluate.candidate(task, cawb.candidate { python = "import torch\n" .. text:gsub("Model%(", "ModelNew(") }, all,
      { samples = 1 }))
    assert(facts.ok, ("%s: %s"):format(what, tostring(facts.reason)))
    assert(facts.battery.mixed and not facts.battery.mixed.left_out, what)
  end
end)

return check.done()
