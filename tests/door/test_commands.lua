-- `cawb profile` and `cawb sanitize`, as a user types them, on the simulated device.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"

local dir = check.folder()

local function cawb(words) return check.shell(("'%s' %s 2>&1"):format(core.program, words)) end

local softmax = "examples/softmax.py kernels/softmax/v3_shuffle --device sim:h100 --set task.rows=8 "

-- A folder as a run leaves it, with a kernel that reads past its input.
local function write(name, text)
  local f = assert(io.open(dir .. "/" .. name, "w"))
  f:write(text)
  f:close()
end
write("kernel.cu", [[
extern "C" __global__ void past(float *y, const float *x) {
  y[threadIdx.x] = x[threadIdx.x + (1 << 20)];
}]])
write("plan.lua", 'launch("past", { grid = 1, block = 32 }, outputs[1], inputs[1])')

check.test("doctor --try judges a right, a wrong and a cheating kernel", function()
  local out, status = cawb "doctor --try --device sim:h100"
  check.equal(status, 0, out)
  check.matches(out, "^ok    right     softmax: right, [^\n]+\nok    wrong     [^\n]+: rejected at verify: [^\n]+\n"
    .. "ok    cheating  [^\n]+: rejected at compiled: [^\n]*clock[^\n]*\nsound: three kernels judged on sim:h100 in %d+ s\n$")
end)

check.test("doctor --try says so where a verdict is not as it has to be", function()
  local judge = require "cawb.judge.judge"
  local real, told = judge.judge, {}
  judge.judge = function(...) local facts = real(...) facts.ok = true return facts end      -- a judge that lets all pass
  local d <close> = assert(require "cawb.gpu.device".open "sim:h100")
  local sound = require "cawb.door.soundness".try(d, function(one) told[one.name] = one.sound end)
  judge.judge = real
  check.equal(sound, false)
  check.equal(told.right, true)
  check.equal(told.wrong, false)
  check.equal(told.cheating, false)
end)

check.test("profile prints a page: metrics with sources, roofline, lines, limiter, remedies", function()
  local out, status = cawb("profile " .. softmax .. "--lines --metrics")
  check.equal(status, 0, out)
  check.matches(out, "warp_instructions +%d+ +simulator")
  check.matches(out, "ptx_shuffles +%d+ +ptx")
  check.matches(out, "roofline .*ceilings: modelled")
  check.matches(out, "kernel%.cu:%d+ .*expf")
  check.matches(out, "limiter: modelled: ")
  check.matches(out, "1%. split%-rows%-over%-clusters: .*%(8 blocks for 132 multiprocessors%)")
end)

check.test("profile --json is one object; --counters takes a set or names", function()
  local out, status = cawb("profile " .. softmax .. "--json --counters quick")
  check.equal(status, 0, out)
  local p = assert(core.json.decode(out))
  check.equal(p.source, "simulator")
  assert(p.roofline.sentence and p.metrics.registers)
  out, status = cawb("profile " .. softmax .. "--counters ,")
  check.equal(status, 2)
  check.matches(out, "needs at least one name")
end)

check.test("sanitize: 0 where nothing is wrong, 1 and the line where something is", function()
  local out, status = cawb("sanitize " .. softmax)
  check.equal(status, 0, out)
  out, status = cawb(("sanitize examples/softmax.py %s --device sim:h100 --set task.rows=8"):format(dir))
  check.equal(status, 1, out)
  check.matches(out, "simulator: read of 4 bytes at kernel%.cu line 2, by thread")
  out, status = cawb(("profile examples/softmax.py %s --device sim:h100 --set task.rows=8"):format(dir))
  check.equal(status, 1, out)
  check.matches(out, "cawb profile: run: past, kernel%.cu line 2: read")
end)

check.test("wrong words are exit code 2 and say what is meant", function()
  for words, says in pairs {
    ["profile examples/softmax.py"] = "a task and a candidate are needed",
    ["profile examples/nosuch.py kernels/softmax/v3_shuffle"] = "nosuch%.py: there is no such file",
    ["profile examples/softmax.py kernels/nosuch --device sim:h100"] = "kernels/nosuch%.cu",
    ["profile examples/softmax.py kernels/softmax/v3_shuffle --line"] = "unknown flag '%-%-line'",
    ["profile examples/softmax.py kernels/softmax/v3_shuffle --set turns=x"] = "must be a number",
    ["sanitize examples/softmax.py kernels/softmax/v3_shuffle --tools memchek --device sim:h100"] = "no tool 'memchek'",
    ["profil examples/softmax.py x"] = "unknown command 'profil' %(did you mean 'profile'",
  } do
    local out, status = cawb(words)
    check.equal(status, 2, words .. ": " .. out)
    check.matches(out, says)
  end
  local out, status = cawb "profile help"
  check.equal(status, 0)
  check.matches(out, "usage: cawb profile TASK%.py CANDIDATE")
end)

check.test("a strategy of the workbench is known by its name, and a task alone means compose", function()
  local flags = " --device sim:h100 --set task.rows=8 --set confirm.enabled=false --out " .. dir .. "/runs"
  local out, status = cawb("ladder examples/softmax.py --set turns=1" .. flags)
  check.equal(status, 0, out)
  check.matches(out, "ladder on softmax")
  out, status = cawb("examples/softmax.py --set turns=1" .. flags)
  check.equal(status, 0, out)
  check.matches(out, "compose on softmax")
  out, status = cawb "ladder --quiet"
  check.equal(status, 2)
  check.matches(out, "a strategy and a task are needed")
end)

check.test("promotion waits longer on a loaded machine, and no less on an idle one", function()
  local patience = require "cawb.door.promote".patience
  check.equal(patience "7.25 3.10 2.00 9/300 1234", 7.25)
  check.equal(patience "0.10 0.20 0.30 1/300 1234", 1)
  check.equal(patience "", 1)
end)

return check.done()
