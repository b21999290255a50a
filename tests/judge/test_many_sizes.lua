-- Several sizes in one score: a candidate is right at all that its task names, and its speed-up is the geometric mean over them.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local confirm = require "cawb.judge.confirm"
local core = require "cawb.core"
local corpus = require "cawb.suite.redteam_kernels"
local judge = require "cawb.judge.judge"
local many_sizes = require "cawb.judge.many_sizes"
local options = require "cawb.base.options"
local python = require "cawb.base.python"

local folder = check.folder()
local host = { assert(python.start(cawb.defaults.deadlines.start)) }     -- one task after the other
local form = [[
import torch

rows, cols = 8, 96
judged_at = %s

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs():
    return [torch.randn(rows, cols)]

def get_init_inputs():
    return []
]]

local all = options.copy(cawb.defaults)
all.rules, all.verify.trials, all.verify.battery, all.verify.repeats, all.measure.budget = "off", 1, {}, 0, 0.05
all.measure.against = { "eager" }

local function open(list, device)
  return cawb.task(check.write(folder .. "/t.py", form:format(list)), { device = device, options = options.copy(all), host = host })
end

local relu = corpus.candidate "relu"

check.test("right at all sizes: a row for each, and the geometric mean of the speed-ups; wrong at one is wrong, and says where", function()
  local device <close> = assert(cawb.device "sim:h100")
  local task <close> = assert(open("[dict(rows=3, cols=500), dict(rows=64)]", device))
  local facts = assert(judge.judge(task, relu, all, { confirm = false }))
  local function right(f)
    assert(f.ok, f.reason)
    local labels, product = {}, 1
    for i, row in ipairs(f.judged_at) do
      assert(row.ok and row.error.nrms and row.baselines.eager.time_s.median > 0)
      labels[i], product = row.label, product * row.speedup.eager.median
    end
    check.equal(table.concat(labels, "; "), "cols=96 rows=8; cols=500 rows=3; cols=96 rows=64")
    assert(math.abs(f.speedup.eager.median / product ^ (1 / 3) - 1) < 1e-9)
    check.equal(f.equal_error.median, f.speedup.eager.median)
    check.equal(f.equal_error.against, "eager")
  end
  right(facts)
  right(assert(confirm.again(task, facts.member, facts, all, function() end)))
  local fitted = cawb.candidate { source = check.edit(relu.source, "i < n", "i < n && n % 96 == 0"), plan = relu.plan }
  facts = assert(judge.judge(task, fitted, all))
  check.equal(facts.ok, false)
  check.equal(facts.stage, "verify")
  check.matches(facts.reason, "^at cols=500 rows=3: outputs%[1%]")
  check.equal(#facts.judged_at, 2)
  check.equal(facts.judged_at[1].ok, true)
  check.equal(facts.judged_at[2].ok, false)
end)

check.test("a Python candidate; what a task host that is lost costs", function()
  local device <close> = assert(cawb.device "cpu")
  local task <close> = assert(open("[dict(rows=3, cols=500)]", device))
  local text = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x * (x > 0)%s\n"
  local facts = assert(judge.judge(task, cawb.candidate { python = text:format "" }, all, { confirm = false, samples = 2, against = {} }))
  assert(facts.ok, facts.reason)
  check.equal(facts.judged_at[2].label, "cols=500 rows=3")
  facts = assert(judge.judge(task, cawb.candidate { python = text:format " * (1 if x.shape[1] == 96 else 2)" }, all,
    { samples = 2, against = {} }))
  check.matches(facts.reason, "^at cols=500 rows=3: outputs%[1%]")
  facts = { ok = true, seconds = {}, rules = { flags = {} }, time_s = { median = 1 } }
  local got = assert(many_sizes.complete(task, facts, all, function(other)
    other.lost = "it died"
    return nil, "it died", "died"
  end))
  check.equal(got.ok, false)
  check.matches(got.reason, "^at cols=500 rows=3: the task host was lost: it died")
end)

check.test("intervals and verdicts of several sizes", function()
  local function together(list)
    local facts = { ok = true, seconds = {}, time_s = { median = 1 }, speedup = { eager = list[1] }, equal_error = list[1] }
    local task = { judged_at = { {}, {} }, info = { constants = {} }, baselines = {}, beside = {} }
    for i = 1, 2 do task.beside[i] = { host = true, info = task.info, baselines = {}, number = i } end
    return many_sizes.complete(task, facts, all, function(other)
      local s = list[other.number + 1]
      return { ok = true, seconds = {}, speedup = { eager = s }, equal_error = s }
    end)
  end
  local function s(median, lo, hi, verdict) return { median = median, lo = lo, hi = hi, verdict = verdict, against = "eager" } end
  local got = together { s(2, 1.9, 2.1, "faster"), s(1, 0.99, 1.01, "same"), s(4, 3.9, 4.1, "faster") }
  assert(math.abs(got.speedup.eager.median - 2) < 1e-9)
  check.equal(got.equal_error.verdict, "faster")
  got = together { s(2, 1.9, 2.1, "faster"), s(0.25, 0.2, 0.3, "slower"), s(0.5, 0.4, 0.6, "slower") }
  check.equal(got.equal_error.verdict, "slower")
  got = together { s(2, 0, nil, "undecided"), s(2, 1.9, 2.1, "faster"), s(2, 1.9, 2.1, "faster") }
  check.equal(got.equal_error.verdict, "undecided")
  check.equal(got.equal_error.lo, 0)
  check.equal(got.equal_error.hi, nil)
end)

check.test("a row for each size on the page and in --json", function()
  local path = check.write(folder .. "/t.py", form:format "[dict(rows=64)]")
  check.write(folder .. "/relu.cu", relu.source)
  check.write(folder .. "/relu.lua", relu.plan)
  local out = check.shell(("'%s' judge '%s' '%s/relu' --device sim:h100 --json --out '%s/runs' 2>/dev/null"):format(core.program, path, folder, folder))
  local said = assert(core.json.decode(out))
  check.matches(said.sentence, "geometric mean of 2 sizes")
  local rows = said.run.turns[1].judged_at
  check.equal(#rows, 2)
  check.equal(rows[2].sizes.rows, 64)
  assert(rows[2].equal_error.median > 0)
end)

check.test("a list that says nothing is refused with what to write", function()
  local device <close> = assert(cawb.device "sim:h100")
  local function wrong(list, pattern)
    local task, message, name = open(list, device)
    check.equal(task, nil)
    check.equal(name, "task")
    check.matches(message, pattern)
  end
  wrong("[(3, 500)]", "t%.py: 'judged_at' must be a list of sets of constants")
  wrong("[dict(row=3)]", "'judged_at' gives a value to 'row', which is no module%-level constant %(did you mean 'rows'%?%)")
  wrong("[dict(rows='3')]", "gives 'rows' a value of the type str; it is of the type int")
  wrong("[dict(rows=3)] * 9", "has 9 sets of constants; at most 8 are judged")
end)

host[1]:close()
return check.done()
