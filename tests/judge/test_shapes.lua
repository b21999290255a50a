-- Sizes beside a task's own: which, and what a candidate that is only right on its own says.

local check = dofile "tests/support/check.lua"
local shapes = require "cawb.judge.verify.sizes"
local core = require "cawb.core"
local corpus = require "cawb.suite.redteam_kernels"

local dir = check.folder()

check.test("one more, one less, a prime and 1 of each whole constant", function()
  local seen = {}
  for _, shape in ipairs(shapes.shapes { rows = 128, cols = 2, eps = 0.5, name = "x", one = 1 }) do
    for name, value in pairs(shape) do seen[#seen + 1] = name .. "=" .. value end
  end
  check.equal(table.concat(seen, " "), "cols=3 cols=1 rows=129 rows=127 rows=137 rows=1")
end)

local function run(words)
  return check.shell(("'%s' shapes %s --device sim:h100 2>&1"):format(core.program, words))
end

check.test("a kernel without a bound is wrong beside its own shape; one with it is right; a plan may refuse", function()
  local relu = "tests/judge/cheats/tasks/elementwise/relu.py --set task.rows=8 --set task.cols=256 "
  local honest = corpus.candidate "relu"
  check.write(dir .. "/relu.cu", honest.source)
  check.write(dir .. "/relu.lua", honest.plan)
  local out, status = run(relu .. dir .. "/relu")
  check.equal(status, 0, out)
  check.matches(out, "cols=257%s+right")
  check.write(dir .. "/kernel.cu", check.edit(honest.source, "i < n", "i < 2048"))
  check.write(dir .. "/plan.lua", honest.plan)
  out, status = run(relu .. dir .. " --json")
  check.equal(status, 1, out)
  local wrong = 0
  for _, found in ipairs(assert(core.json.decode(out)).shapes) do
    if found.outcome == "wrong" then wrong = wrong + 1 end
  end
  assert(wrong >= 4, out)
  check.write(dir .. "/plan.lua", 'assert(inputs[1].numel == 2048, "for 2048 only")\n' .. honest.plan)
  out, status = run(relu .. dir)
  check.equal(status, 0, out)
  check.matches(out, "rows=9%s+refused: .*for 2048 only")
end)

check.test("a new best that is right at its size alone is named when it is confirmed", function()
  local cawb = require "cawb"
  local confirm = require "cawb.judge.confirm"
  local evaluate = require "cawb.judge.evaluate"
  local options = require "cawb.base.options"
  local all = options.copy(cawb.defaults)
  all.verify.sizes, all.measure.against, all.verify.trials = 3, {}, 1
  local device <close> = assert(cawb.device "sim:h100")
  local task <close> = assert(cawb.task("tests/judge/cheats/tasks/elementwise/relu.py", { device = device, options = all, task = { rows = 8, cols = 256 } }))
  local right = corpus.candidate "relu"
  local fitted = cawb.candidate { source = check.edit(right.source, "i < n", "i < n && n == 2048"), plan = right.plan }
  local function sizes_of(candidate)
    local facts = assert(evaluate.one(task, candidate, all, {}))
    assert(facts.ok, facts.reason)
    facts = assert(confirm.again(task, candidate, facts, all, function() end))
    assert(facts.ok, facts.reason)
    return facts.sizes
  end
  local found = sizes_of(right)
  check.equal(found.right, 3)
  check.equal(found.fitted, false)
  found = sizes_of(fitted)
  check.equal(found.wrong, 3, core.json.encode(found))
  check.equal(found.fitted, true)
  assert(found.first.shape and found.first.reason)
end)

check.test("what is wrong with its words", function()
  local out, status = run "tests/judge/cheats/tasks/elementwise/relu.py"
  check.equal(status, 2, out)
  check.matches(out, "name a task and a candidate")
end)

return check.done()
