-- A device whose memory is full: that others hold it is the machine's failure, and no candidate's. The answers of a GPU are
-- made up here: what its worker says of a scratch tensor, and what the task host says of the memory.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local evaluate = require "cawb.judge.evaluate"
local loop = require "cawb.base.loop"
local options = require "cawb.base.options"

local GB <const> = 1 << 30
local device <close> = assert(cawb.device "sim:h100")
local task <close> = assert(cawb.task("examples/softmax.py", { device = device, task = { rows = 4, cols = 32 } }))
local right = assert(cawb.candidate "kernels/softmax/v1_thread_per_row")
local all = options.copy(cawb.defaults)
all.measure.against, all.deadlines.room, all.profile = {}, 0.2, "none"

-- An evaluation in which an operation of the worker finds no memory the first `full` times; `others`: bytes that others hold of the
-- GPU's memory, the first time it is asked, the second, ... the last; `takes`: bytes that it asks for. Returns facts, or nil, message, name; and what was asked.
local function judged(op, full, others, takes)
  local ask, call, asked = task.ask, device.call, { room = 0, full = 0 }
  task.ask = function(self, request, ...)
    if request.op ~= "room" then return ask(self, request, ...) end
    asked.room = asked.room + 1
    return { free = 60 * GB - (others[asked.room] or others[#others]), total = 80 * GB, own = 20 * GB }
  end
  device.call = function(self, request, ...)
    if request.op == op and asked.full < full then
      asked.full = asked.full + 1
      return nil, ("cuda:0: no room for scratch[1]: it takes %d bytes and 615186432 of 85899345920 are free"):format(takes or 2 * GB), "memory"
    end
    return call(self, request, ...)
  end
  local facts, message, name = evaluate.candidate(task, right, all, { trials = 1, battery = {}, repeats = 0, samples = 1, against = {} })
  task.ask, device.call = nil, nil
  return facts, message, name, asked
end

for _, op in ipairs { "load", "run" } do
  check.test(op .. ": what the task host keeps of the candidate before is given back, and it is tried again", function()
    local facts, message, _, asked = judged(op, 1, { 0 })
    assert(facts, message)
    assert(facts.ok, facts.reason)
    assert(asked.room >= 1)
  end)

  check.test(op .. ": memory that others hold is waited for", function()
    local sleep = loop.sleep
    loop.sleep = function(seconds) return sleep(math.min(seconds, 0.01)) end
    all.deadlines.room = 60               -- a loaded machine takes its time for two attempts
    local facts, message = judged(op, 2, { 40 * GB })
    all.deadlines.room, loop.sleep = 0.2, sleep
    assert(facts, message)
    assert(facts.ok, facts.reason)
  end)

  check.test(op .. ": where they keep it the machine has failed, not the candidate", function()
    local facts, message, name = judged(op, math.huge, { 40 * GB })
    check.equal(facts, nil)
    check.equal(name, "memory")
    check.matches(message, "no room for scratch%[1%].*other programs hold 42949672960 of 85899345920 bytes")
  end)

  check.test(op .. ": what would not fit without the others either is the candidate's failure, at once", function()
    local facts, message, _, asked = judged(op, math.huge, { 2 * GB }, 70 * GB)
    assert(facts, message)
    check.equal(facts.ok, false)
    check.matches(facts.reason, "it takes 75161927680 bytes")
    check.equal(asked.full, 2)
  end)

  check.test(op .. ": where nobody else has any it does not fit, and that is the candidate's failure", function()
    local facts, message = judged(op, math.huge, { 0 })
    assert(facts, message)
    check.equal(facts.ok, false)
    check.matches(facts.reason, "no room for scratch%[1%]")
  end)
end

check.test("more than a simulated device has is the candidate's failure, at once", function()
  local plan = "local big = scratch { dtype = 'float32', shape = { 1 << 36 } }\n" .. right.plan
  local facts, message = evaluate.candidate(task, cawb.candidate { source = right.source, plan = plan }, all, { trials = 1 })
  assert(facts, message)
  check.equal(facts.ok, false)
  check.equal(facts.stage, "plan")
  check.matches(facts.reason, "274877906944 bytes")
end)

-- ---- the task host

check.test("the task host gives back what it keeps; the same seed makes the same inputs afterwards", function()
  local function inputs(seed)
    assert(task:ask { op = "inputs", seed = seed, poison = 1 })
    return core.json.encode(assert(task:ask { op = "peek", what = "inputs", index = 1, count = 8 }).values)
  end
  local before = inputs(77)
  assert(task:ask { op = "room" })
  local none, message = task:ask { op = "compare", poison = 1 }
  check.equal(none, nil)
  check.matches(message, "no inputs yet")
  check.equal(inputs(77), before)
end)

check.test("a task host that finds no memory costs no candidate its turn, where the next one finds some or others hold it", function()
  local dir = check.folder()
  local strategy = check.write(dir .. "/oom.lua", [[
    return { measure = { against = {} }, confirm = { enabled = false }, verify = { trials = 1, battery = {} }, step = function(run)
      local ask, left = run.task.ask, tonumber(os.getenv "SHORT")
      run.task.ask = function(self, request, ...)
        if request.op == "room" then return { total = 80 << 30, free = 1 << 30, own = (80 << 30) - tonumber(os.getenv "OTHERS") } end
        if request.op ~= "compare" or left == 0 then return ask(self, request, ...) end
        left, self.lost = left - 1, "CUDA out of memory"
        return nil, self.lost, "memory"
      end
      run:evaluate(assert(require "cawb".candidate "kernels/softmax/v1_thread_per_row"))
      return false
    end }]])
  local function run(short, others)
    return check.shell(("SHORT=%d OTHERS=%d '%s' %s examples/softmax.py --device sim:h100 --set task.rows=4 --set task.cols=32 --quiet --json --out %s/runs 2>&1")
      :format(short, others, core.program, strategy, dir))
  end
  local out, status = run(1, 0)
  check.equal(status, 0, out)
  out, status = run(9, 0)
  check.equal(status, 1, out)
  check.matches(out, "the task host was lost while it judged this candidate")
  out, status = run(1, 40 << 30)
  check.equal(status, 4, out)
  check.matches(out, "CUDA out of memory")
end)

return check.done()
