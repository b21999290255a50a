-- What a newcomer types: `cawb judge`, words in the wrong order, folders, help, a task that is a plain function.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local file = require "cawb.base.file"

local dir = check.folder()
local here = assert(check.shell "pwd"):match "[^\n]+"

local function cawb(words, from) return check.shell(("cd '%s' && '%s' %s 2>&1"):format(from or here, core.program, words)) end

local quick = " --device sim:h100 --set verify.trials=1 --set verify.battery=mixed --out " .. dir .. "/runs"

-- A sum of rows in two launches more than it needs, so that it is surely slow; and one that is surely fast.
check.write(dir .. "/rows.py", [[
import torch

rows, cols = 64, 512


def op(x):
    """The sum of each row, shifted."""
    return (x.flip(1).cumsum(1) * 2).flip(1) + 1


examples = [torch.rand(rows, cols) * 3 - 1]
]])
check.write(dir .. "/back.cu", [[
extern "C" __global__ void back(float *y, const float *x, int cols) {
  __shared__ float part[32];
  float own[4], sum = 0;
  const int t = threadIdx.x, lane = t % 32, from = blockIdx.x * cols + cols - 1 - 4 * t;
  for (int i = 0; i < 4; i++) own[i] = sum += x[from - i];
  float before = sum;
  for (int d = 1; d < 32; d *= 2) {
    const float other = __shfl_up_sync(~0u, before, d);
    if (lane >= d) before += other;
  }
  if (lane == 31) part[t / 32] = before;
  __syncthreads();
  before -= sum;
  for (int w = 0; w < t / 32; w++) before += part[w];
  for (int i = 0; i < 4; i++) y[from - i] = 2 * (own[i] + before) + 1;
}
]])
check.write(dir .. "/back.lua", [[
local x = inputs[1]
launch("back", { grid = x.shape[1], block = x.shape[2] // 4 }, outputs[1], x, x.shape[2])
]])

check.test("judge: right and faster is 0, with times, errors, limiter and lines; the task is a plain function", function()
  local out, status = cawb("judge rows.py back.cu" .. quick, dir)
  check.equal(status, 0, out)
  check.matches(out, "^right, and %d%.%d+x as fast as torch%.compile, the fastest baseline that is no less accurate %(modelled%)")
  check.matches(out, "candidate +%d.- us +%d.%de%-%d+\n")
  check.matches(out, "eager +%d.- us +%d.%de%-%d+ +%d.-x\n")
  check.matches(out, "compile +%d.- us +not run +%d.-x\n")
  check.matches(out, "rms error: against the same in float64")
  check.matches(out, "not run: its time is modelled, and its error is taken to be no larger")
  check.matches(out, "bound +no kernel can take less than 4.- us here, by the device's modelled rates; this one takes %d.-x as long\n")
  check.matches(out, "limiter +modelled: ")
  check.matches(out, "hottest +line %d+ ")
  check.matches(out, "cawb promote %d")
end)

check.test("a command that comes behind its task is told to come first", function()
  local out, status = cawb("rows.py judge", dir)
  check.equal(status, 2, out)
  check.matches(out, "judge is a command, which comes first: cawb judge rows%.py %.%.%. %('cawb help judge' says what else%)")
end)

check.test("judge: the words may come in either order; right and slower is 1", function()
  local out, status = cawb("judge kernels/softmax/v1_thread_per_row examples/softmax.py --set task.rows=8 --set task.cols=256" .. quick)
  check.equal(status, 1, out)
  check.matches(out, "^right, but slower than ")
end)

check.test("judge: a version of a family is told what the task's graph is, as in its ladder", function()
  local out, status = cawb("judge examples/cumsum_reverse.py kernels/scan/v3_shuffle --set task.rows=64 --set task.cols=256" .. quick)
  assert(status <= 1, out)
  check.matches(out, "^right, ")
end)

check.test("judge: kernels that cawb comes with have their names in any folder, --json is one object", function()
  local out, status = cawb(("judge '%s/examples/softmax.py' kernels/softmax/v3_shuffle --json --set task.rows=8 --set task.cols=256%s")
    :format(here, quick), dir)
  local found = assert(core.json.decode(out))
  check.equal(found.verdict, ({ [0] = "faster", "right" })[status])
  check.equal(#found.run.turns, 1)
  assert(found.limiter and found.lines[1].line)
end)

check.test("judge: where a modelled speed-up is too near to 1 to be one, that is said, with how far it is from the bound", function()
  local answer = require "cawb.door.answer"
  local function page(median, flag)
    local s = { against = "eager", median = median, lo = median, hi = median, less_accurate = {} }
    local time = { median = 8e-6, lo = 8e-6, hi = 8e-6, samples = 1 }
    local facts = { ok = true, modelled = true, time_s = time, equal_error = s, floor = { seconds = 5e-6, source = "modelled" },
                    rules = { flags = { flag } } }
    local turn = { ok = true, name = "k", label = "", modelled = true, time_s = time, speedup = { eager = s }, facts = facts }
    local run = { turns = { turn }, id = "r", ledger = { dir = "d" },
      task = { name = "t", notes = {}, baselines = { eager = { time_s = time } }, device = { info = { model = "H" } } } }
    return table.concat(answer.page(run), "\n")
  end
  local said = page(1.04)
  check.matches(said, "^right, and neither faster nor slower than eager PyTorch")
  check.matches(said, "bound +no kernel can take less than 5 us here, by the device's modelled rates; this one takes 1.6x as long")
  check.matches(page(1.06), "^right, and 1.06x as fast as")
  check.matches(page(0.93), "^right, but slower than")
  check.matches(page(1.04, { rule = "r", reason = "it divides" }), "remark +it divides %(rule 'r'; a remark, no fault%)")
  check.matches(page(1.04, { rule = "r", reason = "r.lua:3: nil", unknown = true }), "r.lua:3: nil %(rule 'r' could not tell, and rejects nothing: ")
end)

check.test("judge: a flag says what it means, and that it is no fault", function()
  check.write(dir .. "/divided.cu", check.edit(assert(file.read(dir .. "/back.cu")), "2 * (own[i] + before) + 1;",
    "__fdividef(2 * (own[i] + before) + 1, x[from - i] == x[from - i] ? 1.0f : 2.0f);"))
  check.write(dir .. "/divided.lua", assert(file.read(dir .. "/back.lua")))
  local out, status = cawb("judge rows.py divided.cu" .. quick, dir)
  check.equal(status, 0, out)
  check.matches(out, "remark +approximate instructions %(4 div%), faster than exact ones: .-%(rule 'approximations'; a remark, no fault%)\n")
end)

local function broken(source, plan)
  check.write(dir .. "/broken.cu", source)
  check.write(dir .. "/broken.lua", plan or 'launch("f", { grid = 64, block = 32 }, outputs[1], inputs[1])')
  return cawb("judge rows.py broken.cu" .. quick, dir)
end

check.test("judge: what is wrong is 2 and says how", function()
  local out, status = broken 'extern "C" __global__ void f(float *y, const float *x) { y[blockIdx.x] = z; }'
  check.equal(status, 2, out)
  check.matches(out, "^it does not compile: kernel%.cu%(1%): error: identifier \"z\" is undefined")
  out, status = broken('extern "C" __global__ void f(float *y, const float *x) {}', "launch(")
  check.equal(status, 2, out)
  check.matches(out, "^its plan is wrong: plan%.lua:1: ")
  out, status = broken 'extern "C" __global__ void f(float *y, const float *x) { y[threadIdx.x] = x[1 << 24]; }'
  check.equal(status, 2, out)
  check.matches(out, "^it does not run: f, kernel%.cu line 1: read of 4 bytes")
  check.matches(out, "cawb sanitize")
  out, status = broken 'extern "C" __global__ void f(float *y, const float *x) { for (int i = threadIdx.x; i < 512; i += 32) y[blockIdx.x * 512 + i] = 1; }'
  check.equal(status, 2, out)
  check.matches(out, "^wrong: outputs%[1%] is wrong at %[")
end)

check.test("judge: what cannot be judged is 3 and says what to do", function()
  check.write(dir .. "/alone.cu", "")
  for words, says in pairs {
    ["judge rows.py alone.cu"] = "alone%.cu has no plan beside it: no file alone%.lua%. A plan says",
    ["judge rows.py"] = "a task and a candidate are needed",
    ["judge nosuch.py back.cu"] = "nosuch%.py: there is no such file",
    ["judge rows.py nosuch.cu"] = "nosuch%.cu: No such file",
    ["judge rows.py back.cu --device cpu"] = "kernels run on sim:h100 or cuda:N",
    ["judge rows.py back.cu --resume x"] = "judge has one turn",
  } do
    local out, status = cawb(words .. (words:find "%-%-device" and "" or quick), dir)
    check.equal(status, 3, words .. ": " .. out)
    check.matches(out, says)
  end
end)

check.test("every command has a page: cawb help WORD and cawb WORD --help print it", function()
  for _, name in ipairs(assert(core.fs.list(core.home .. "/lua/commands"))) do
    local word = name:match "^(.*)%.lua$"
    if word ~= "help" then
      local out, status = cawb("help " .. word)
      check.equal(status, 0, word .. ": " .. out)
      check.matches(out, "^usage: cawb " .. word)
      check.equal(cawb(word .. " --help"), out)
    end
  end
end)

check.test("every strategy has a page with its settings, none of which runs it", function()
  for _, file in ipairs(assert(core.fs.list(core.home .. "/strategies"))) do
    local name = file:match "^(.*)%.lua$"
    local out, status = cawb("help " .. name)
    check.equal(status, 0, name .. ": " .. out)
    check.matches(out, "strategies/" .. file)
    assert(not out:find("^" .. name .. ":") and not out:find "\n%-%-", out)
  end
  local out = cawb "tune --help"
  check.equal(cawb "help tune", out)
  check.matches(out, "^usage: cawb tune TASK%.py %[flags%]")
  check.matches(out, "a better schedule of it by measurement")
  check.matches(out, "\n  %-%-set settings%.measurements=24\n")
  check.matches(out, '\n  %-%-set settings%.schedule=""\n')
  out = cawb "help bench/judge/classes.lua"
  check.matches(out, "^is a wrong kernel caught by its class.*cawb bench/judge/classes%.lua %-%- %[COUNT%].*\nIts text is bench/judge/classes%.lua\n$")
end)

check.test("what cawb comes with has its name in any folder: tasks, strategies, options; a file that is there comes first", function()
  local words = "strategies/ladder.lua examples/gelu.py --config tolerance-paper --quiet --set turns=1 --set task.rows=8 --device sim:h100 --out " .. dir .. "/runs"
  local out, status = cawb(words, dir)
  check.equal(status, 0, out)
  check.write(dir .. "/tolerance-paper", 'return { turns = "many" }')
  out, status = cawb(words, dir)
  check.equal(status, 2, out)
  check.matches(out, "^cawb: tolerance%-paper: ")
  check.shell("rm " .. dir .. "/tolerance-paper")
end)

-- As a full disk leaves it.
check.test("a best candidate whose files are not there is not called kept", function()
  check.write(dir .. "/gone.lua", ([[local cawb = require "cawb"
    return { step = function(run)
      if #run.turns > 0 then return os.execute "rm -f %s/gone/*/kernel.cu" and false end
      return run:evaluate(assert(cawb.candidate "kernels/softmax/v3_shuffle")) and true
    end }]]):format(dir))
  local out, status = cawb("gone.lua examples/softmax.py --device sim:h100 --set task.rows=8 --set task.cols=64 --out gone", dir)
  check.equal(status, 0, out)
  check.matches(out, "its files could not be kept in gone/%S+: is the disk full%? %(df gone%)")
  assert(not out:find "\nkept in", out)
end)

check.test("help lists the strategies", function()
  check.matches(check.shell(("'%s' help"):format(core.program)), "\nstrategies: [^\n]+\n.*\n  react +reason, act, observe\n.*\n  tune ")
end)

check.test("dead ends say what to do", function()
  check.write(dir .. "/boom.lua", 'error("boom")')
  check.write(dir .. "/deep.lua", 'local function f()\n  error("deep")\nend\nf()\n')
  check.write(dir .. "/none.lua", 'assert(require "cawb".candidate "none.cu")')
  for words, says in pairs {
    ["compose examples"] = "examples is a folder; a task is one Python file, such as examples/",
    ["ladder"] = "the strategy ladder needs a task: cawb ladder TASK%.py",
    ["examples"] = "examples is a folder; a task is one Python file, such as examples/",
    ["ladr examples/gelu.py"] = "unknown command 'ladr' %(did you mean 'ladder'",
    ["kernels/softmax/v1_thread_per_row.cu"] = "is a kernel; .*cawb judge TASK%.py kernels/softmax/v1_thread_per_row%.cu",
    ["kernels/softmax/v1_thread_per_row examples/softmax.py"] = "cawb judge examples/softmax%.py kernels/softmax/v1_thread_per_row\n",
    ["nosuch.lua examples/gelu.py"] = "there is no such strategy %(known: .*ladder",
    ["examples/gelu.py --config rules-stric"] = "rules%-stric: there is no such file %(did you mean 'rules%-strict'",
    ["compose nosuch.py"] = "nosuch%.py: there is no such file; a task is one Python file, as .*/examples/softmax%.py is",
    ["help judg"] = "unknown command 'judg' %(did you mean 'judge'",
    [dir .. "/boom.lua"] = "boom%.lua:1: boom\nTry 'cawb help'%.\n$",
    [dir .. "/deep.lua"] = "^cawb: [^\n]*deep%.lua:2: deep\n  called in [^\n]*deep%.lua:4\nTry 'cawb help'%.\n$",
    [dir .. "/none.lua"] = "none%.lua:1: none%.cu: No such file",
    [dir .. "/boom.lua examples/softmax.py"] = "boom%.lua:1: boom\nTry 'cawb help'%.\n$",
  } do
    local out, status = cawb(words)
    check.equal(status, 2, words .. ": " .. out)
    check.matches(out, says)
  end
  local out, status = cawb("ladder examples/operators/norm_loss.py --set task.rows=8" .. quick)
  check.equal(status, 1, out)
  check.matches(out, "the strategy compose lowers any operator: cawb TASK%.py")
end)

check.test("a task before its strategy is understood", function()
  local out, status = cawb("examples/softmax.py ladder --set turns=1 --set task.rows=8 --set task.cols=64" .. quick)
  check.equal(status, 0, out)
  check.matches(out, "^ladder on softmax[^\n]*; at most 1 turn, 600 s\n")
  check.matches(out, "reward %d; all turns are spent: %-%-set turns=N gives more\n")
end)

return check.done()
