-- Whole runs as a user starts them: exit codes, JSON, records, crashes, Ctrl-C.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"

local dir = check.folder()
local cawb = ("'%s'"):format(core.program)
local small = "--device sim:h100 --set task.rows=16 --set task.cols=64 --set sweep.variants=2"

local function run(words, env)
  local command = ("%s %s %s --out %s/runs 2>%s/err"):format(env or "", cawb, words, dir, dir)
  local out, status = check.shell(command)
  local err = assert(io.open(dir .. "/err")):read "a"
  return out, status, err
end

local function last_object(out)
  return assert(core.json.decode(out:match "([^\n]+)\n?$"))
end

local function strategy(text) return check.write(dir .. "/strategy.lua", text) end

check.test("a run passes, prints its table, and leaves its files", function()
  local out, status = run("strategies/ladder.lua examples/softmax.py " .. small)
  check.equal(status, 0)
  check.matches(out, "turn 1  softmax/v1")
  check.matches(out, "modelled")
  local folder = out:match "kept in (%S+)"
  for _, name in ipairs { "kernel.cu", "plan.lua", "result.json" } do
    check.equal(core.fs.kind(folder .. "/" .. name), "file")
  end
end)

check.test("what a run keeps can be loaded again, and computes the same", function()
  local task = check.write(dir .. "/relu.py", [[
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
def get_inputs():
    return [torch.randn(64, 256)]
def get_init_inputs():
    return []
]])
  local out, status = run("strategies/ladder.lua --device sim:h100 --set sweep.variants=3 " .. task)
  check.equal(status, 0)
  local again = strategy(([[
    local cawb = require "cawb"
    local c = assert(cawb.candidate %q)
    return { step = function(run) return run:evaluate(c) and false end }]]):format(out:match "kept in (%S+)"))
  local first, second = out:match "best: .-(%S+ us) modelled", nil
  out, status = run(again .. " --device sim:h100 " .. task)
  check.equal(status, 0, out)
  second = out:match "best: .-(%S+ us) modelled"
  check.equal(first, second)
end)

check.test("a source or a plan that cannot be one is the candidate's failure", function()
  local path = strategy [[
    local cawb = require "cawb"
    local c = assert(cawb.candidate "kernels/softmax/v2_block_per_row")
    local list = { { source = ("x"):rep(2 << 20), plan = c.plan }, { source = "a\0b", plan = c.plan },
      { source = c.source, plan = ("-"):rep(2 << 20) },
      { source = c.source, plan = "tunables{ a = {1}, A = {2} }" } }
    return { step = function(run)
      local t = list[#run.turns + 1]
      return t and run:evaluate(cawb.candidate(t))
    end }]]
  local out, status = run(path .. " examples/softmax.py --json --quiet " .. small)
  check.equal(status, 1)
  local turns = last_object(out).turns
  check.matches(turns[1].reason, "kernel.cu has 2097152 bytes")
  check.matches(turns[2].reason, "NUL")
  check.matches(turns[3].reason, "plan.lua has 2097152 bytes")
  check.matches(turns[4].reason, "'A' and 'a' both become the define A")
end)

check.test("what a strategy prints does not mix with --json", function()
  local path = strategy [[print "hello" return { turns = 1 }]]
  local out = run(path .. " examples/softmax.py --json --quiet " .. small)
  check.matches(out, "^hello\n{")             -- loaded before the run; one object, last
  path = strategy [[return { turns = 1, stop = function() print "hello" end }]]
  out = run(path .. " examples/softmax.py --json --quiet " .. small)
  check.equal(select(2, out:gsub("\n", "")), 1)
end)

check.test("Ctrl-C reaches a strategy's own endless loop", function()
  local path = strategy [[
    return { step = function(run)
      io.popen("kill -INT " .. io.open("/proc/self/stat"):read "n"):close()
      while true do end
    end }]]
  local _, status = run(path .. " examples/softmax.py --quiet " .. small)
  check.equal(status, 130)
end)

check.test("--json prints one object, last on standard output", function()
  local out, status, err = run("strategies/ladder.lua examples/softmax.py --json " .. small)
  check.equal(status, 0)
  local r = last_object(out)
  check.equal(r.device, "sim:h100")
  check.equal(r.modelled, true)
  check.equal(r.ended, "finished")
  assert(r.manifest.model and r.manifest.torch and r.manifest.nvrtc and r.manifest.modelled)
  local best = r.turns[r.best]
  assert(best.ok and best.reward >= 1 and best.time_s.median > 0)
  assert(best.time_s.lo <= best.time_s.median and best.time_s.median <= best.time_s.hi)
  assert(best.speedup.eager.median > 0 and best.speedup.compile.lo > 0)
  assert(best.seconds.compile > 0 and best.seconds.verify > 0 and best.seconds.measure > 0)
  assert(best.error.worst < 1e-6 and best.error.nrms < 1e-6)
  for i, turn in ipairs(r.turns) do check.equal(turn.number, i) end
  check.matches(err, "turn 1")                 -- the lines are still there, elsewhere
  local quiet = run("strategies/ladder.lua examples/softmax.py --json --quiet " .. small)
  check.equal(select(2, quiet:gsub("\n", "")), 1)
end)

check.test("--seed repeats the inputs: the same errors, to the last digit", function()
  local command = "strategies/ladder.lua examples/softmax.py --json --quiet --seed 7 --set turns=2 " .. small
  local a, b = last_object((run(command))), last_object((run(command)))
  check.equal(a.turns[2].error.worst, b.turns[2].error.worst)
  local c = last_object((run((command:gsub("seed 7", "seed 8")))))
  assert(a.turns[2].error.worst ~= c.turns[2].error.worst or a.turns[2].error.nrms ~= c.turns[2].error.nrms)
end)

check.test("the record holds what was printed", function()
  local r = last_object((run("strategies/ladder.lua examples/softmax.py --json --quiet --set turns=2 " .. small)))
  local store <close> = assert(core.store.open(dir .. "/runs"))
  local rows = assert(store:query("SELECT * FROM turns WHERE run = ? ORDER BY number", r.run))
  check.equal(#rows, 2)
  check.equal(rows[2].reward, r.turns[2].reward + 0.0)
  local samples = assert(store:query("SELECT data FROM samples WHERE run = ? AND turn = 2 AND evaluation = 0", r.run))
  check.equal(string.unpack("<d", samples[1].data), r.turns[2].time_s.median)
  local files = assert(store:query("SELECT files FROM candidates WHERE hash = ?", r.turns[2].hash))
  local source = assert(store:read(core.json.decode(files[1].files)["kernel.cu"]))
  check.matches(source, "__global__")
  local ends = assert(store:query("SELECT status FROM run_ends WHERE run = ?", r.run))
  check.equal(ends[1].status, "passed")
end)

check.test("exit 1: no candidate passed", function()
  local path = strategy [[
    local cawb = require "cawb"
    return { turns = 1, step = function(run)
      return run:evaluate(cawb.candidate { source = "nonsense", plan = "" })
    end }]]
  local out, status = run(path .. " examples/softmax.py " .. small)
  check.equal(status, 1)
  check.matches(out, "no candidate passed")
end)

check.test("exit 2: what the user typed or wrote is wrong", function()
  local function says(words, pattern)
    local _, status, err = run(words)
    check.equal(status, 2, words)
    check.matches(err, pattern)
  end
  says("strategies/ladder.lua examples/none.py", "examples/none.py: there is no such file")
  says("strategies/none.lua examples/softmax.py", "none.lua")
  says("strategies/ladder.lua examples/softmax.py --set turms=3", "did you mean 'turns'")
  says("strategies/ladder.lua examples/softmax.py --devise x", "did you mean '%-%-device'")
  says("strategies/ladder.lua examples/softmax.py --device gpu", "unknown device 'gpu'")
  says("strategies/ladder.lua examples/softmax.py --device sim:h100 --set task.rwos=3", "rwos")
  says("dcotor", "unknown command 'dcotor'.*did you mean 'doctor'")
  says(strategy "return { turms = 3 }" .. " examples/softmax.py", "unknown option 'turms'")
  says(strategy "local x = {}" .. " examples/softmax.py", "returns nothing, a strategy returns a table")
  says(strategy "return 3" ..  " examples/softmax.py", "must return a table, got number")
  says(strategy "return {" .. " examples/softmax.py", "strategy.lua:1:")
  says("strategies/ladder.lua", "returns a strategy: name a task too")
  local task = check.write(dir .. "/task.py", "import torch\nclass Model(:\n")
  says("strategies/ladder.lua --device sim:h100 " .. task, "task.py:2")
end)

check.test("exit 3: the machine lacks something", function()
  local _, status, err = run("strategies/ladder.lua examples/softmax.py --device cuda:99")
  check.equal(status, 3)
  check.matches(err, "cuda")
  _, status, err = run("strategies/ladder.lua examples/softmax.py --device sim:h100", "CAWB_PYTHON=/bin/false")
  check.equal(status, 3)
  check.matches(err, "CAWB_PYTHON")
end)

check.test("CAWB_PYTHON may be a name: processes with another PATH get its path", function()
  local python = os.getenv "CAWB_PYTHON"
  if not python or not python:find "/" then return print "     no path in CAWB_PYTHON: nothing to show" end
  local folder, name = python:match "^(.*)/([^/]+)$"
  local script = check.write(dir .. "/path.lua", 'print(require("cawb.base.python").path())')
  check.equal((run(script, ("PATH='%s':/usr/bin:/bin CAWB_PYTHON=%s"):format(folder, name))), folder .. "/" .. name .. "\n")
end)

check.test("a candidate that crashes its worker is recorded, and the run goes on", function()
  local path = strategy [[
    local cawb = require "cawb"
    local c = assert(cawb.candidate "kernels/softmax/v2_block_per_row")
    local twin = cawb.candidate { source = c.source:gsub("softmax%f[^%w_]", "doomed"),
      plan = c.plan:gsub('"softmax"', '"doomed"'), name = "doomed" }
    return { turns = 3, step = function(run)
      run:evaluate(#run.turns == 1 and twin or c)
      return #run.turns < 3
    end }]]
  local out, status = run(path .. " examples/softmax.py --json --quiet " .. small, "CAWB_FAULT_KERNEL=doomed")
  check.equal(status, 0)
  local r = last_object(out)
  check.equal(#r.turns, 3)
  assert(r.turns[1].ok and r.turns[3].ok and not r.turns[2].ok)
  check.equal(r.turns[2].stage, "run")
  check.matches(r.turns[2].reason, "took the worker process down.*signal 6")
end)

check.test("what would be the best is confirmed by a fresh worker on fresh inputs", function()
  local path = strategy [[
    local cawb = require "cawb"
    local device = require "cawb.gpu.device"
    local c = assert(cawb.candidate "kernels/softmax/v2_block_per_row")
    return { turns = 2, verify = { trials = 1 }, sweep = { variants = 1 }, step = function(run)
      local before = run.task.device.workers
      local turn = run:evaluate(c)
      assert(run.task.device.workers == before + (turn.number == 1 and 1 or 0), "workers")
      assert(#turn.facts.trials == (turn.number == 1 and 2 or 1), "trials")
      assert((turn.facts.first ~= nil) == (turn.number == 1), "first")
      return true
    end }]]
  local r = last_object((run(path .. " examples/softmax.py --json --quiet " .. small)))
  check.equal(#r.turns, 2)
  assert(r.turns[1].first.time_s.median > 0 and r.turns[1].seconds.confirm > 0)
  assert(not r.turns[2].first)
end)

check.test("what was measured to be slower than every baseline is not confirmed", function()
  local path = strategy [[
    local cawb = require "cawb"
    local evaluate = require "cawb.judge.evaluate"
    local slower = { { verdict = "slower", hi = 0.9 }, { verdict = "undecided", hi = 0.02 }, { verdict = "same", hi = 1.01 } }
    local one = evaluate.one
    evaluate.one = function(task, candidate, options, how)
      local facts = one(task, candidate, options, how)
      local s = not how.battery and table.remove(slower, 1)      -- of a sweep's members none
      if s then facts.modelled, facts.speedup = false, { eager = { median = 0.01, lo = 0.01, hi = s.hi, verdict = s.verdict } } end
      return facts
    end
    local n = 3
    return { turns = 3, sweep = { variants = 1 }, verify = { trials = 1 }, reward = function(facts) n = n + 1 return n end,
      step = function(run)
        local turn = run:evaluate(assert(cawb.candidate "kernels/softmax/v2_block_per_row"))
        assert((turn.facts.first ~= nil) == (turn.number == 3), "turn " .. turn.number)
        return true
      end }]]
  local out, status, err = run(path .. " examples/softmax.py --json --quiet " .. small)
  check.equal(#last_object(out).turns, 3, err)
end)

check.test("a candidate that passes only once is not kept", function()
  local path = strategy [[
    local cawb = require "cawb"
    local evaluate = require "cawb.judge.evaluate"
    local c = assert(cawb.candidate "kernels/softmax/v2_block_per_row")
    local one = evaluate.one
    evaluate.one = function(task, candidate, options, how)
      local facts = one(task, candidate, options, how)
      if how.trials == options.confirm.trials then facts.ok, facts.stage, facts.reason = false, "verify", "wrong this time" end
      return facts
    end
    return { turns = 1, sweep = { variants = 1 }, step = function(run) return run:evaluate(c) end }]]
  local r = last_object((run(path .. " examples/softmax.py --json --quiet " .. small)))
  check.equal(r.turns[1].stage, "confirm")
  check.matches(r.turns[1].reason, "passed once, but not in a fresh worker.*wrong this time")
  assert(not r.best)
end)

check.test("an endless kernel costs one turn", function()
  local path = strategy [[
    local cawb = require "cawb"
    local c = assert(cawb.candidate "kernels/softmax/v2_block_per_row")
    local hang = cawb.candidate { name = "hang", plan = 'launch("hang", { grid = 1, block = 32 }, outputs[1])',
      source = 'extern "C" __global__ void hang(volatile float *y) { while (y[0] != 1.0f) {} y[0] = 2; }' }
    return { deadlines = { run = 0.5 }, step = function(run)
      run:evaluate(#run.turns == 0 and hang or c)
      return #run.turns < 2
    end }]]
  local r = last_object((run(path .. " examples/softmax.py --json --quiet " .. small)))
  check.equal(r.turns[1].stage, "run")
  check.matches(r.turns[1].reason, "did not end in time")
  assert(r.turns[2].ok)
end)

check.test("the budget of turns and of seconds ends a run", function()
  local r = last_object((run("strategies/ladder.lua examples/softmax.py --json --quiet --set turns=1 " .. small)))
  check.equal(#r.turns, 1)
  check.equal(r.ended, "turns")
  r = last_object((run("strategies/ladder.lua examples/softmax.py --json --quiet --set seconds=0.001 " .. small)))
  check.equal(r.ended, "seconds")
end)

check.test("a strategy that raises ends with 2 and its position; what was measured is kept", function()
  local path = strategy [[
    local cawb = require "cawb"
    return { step = function(run)
      run:evaluate(assert(cawb.candidate "kernels/softmax/v2_block_per_row"))
      return run.nothing.here
    end }]]
  local out, status, err = run(path .. " examples/softmax.py --json --quiet " .. small)
  check.equal(status, 2)
  check.matches(err, "strategy.lua: in step: .*strategy.lua:4: attempt to index a nil value")
  check.equal(#last_object(out).turns, 1)
end)

check.test("a turn that cannot be recorded ends the run; the best before it stays", function()
  local path = strategy [[
    local cawb = require "cawb"
    local rungs = { "v1_thread_per_row", "v2_block_per_row" }
    return { step = function(run)
      if #run.turns == 1 then run.ledger.turn = function() return nil, "the disk is full", "io" end end
      return run:evaluate(assert(cawb.candidate("kernels/softmax/" .. rungs[#run.turns + 1])))
    end }]]
  local out, status, err = run(path .. " examples/softmax.py --json --quiet " .. small)
  check.equal(status, 3, err)
  check.matches(err, "the disk is full")
  check.equal(last_object(out).best, 1)
  assert(not err:find "traceback", err)
end)

check.test("Ctrl-C: exit 130, and what was measured is kept", function()
  local path = strategy [[
    local cawb = require "cawb"
    local c = assert(cawb.candidate "kernels/softmax/v2_block_per_row")
    return { step = function(run)
      run:evaluate(c)
      io.popen("kill -INT " .. io.open("/proc/self/stat"):read "n"):close()
      return true
    end }]]
  local out, status = run(path .. " examples/softmax.py --json --quiet " .. small)
  check.equal(status, 130)
  local r = last_object(out)
  check.equal(r.ended, "interrupted")
  assert(#r.turns == 1 and r.best == 1)
end)

check.test("Ctrl-C in the middle of a turn finishes it; a second one does not", function()
  local script = [[
    local cawb = require "cawb"
    local c = assert(cawb.candidate "kernels/softmax/v2_block_per_row")
    local pid, times = io.open("/proc/self/stat"):read "n", %d
    return { step = function(run)
      local call = run.task.device.call
      run.task.device.call = function(...)       -- in the midst of it
        for _ = 1, times do io.popen("kill -INT " .. pid):close() end
        times = 0
        return call(...)
      end
      return run:evaluate(c)
    end }]]
  for times = 1, 2 do
    local out, status = run(strategy(script:format(times)) .. " examples/softmax.py --json --quiet " .. small)
    check.equal(status, 130)
    local r = last_object(out)
    check.equal(r.ended, "interrupted")
    check.equal(#r.turns, times == 1 and 1 or 0)
    check.equal(r.best, times == 1 and 1 or nil)
  end
end)

check.test("kill -9 in the middle of a turn loses that turn only, and leaves no process behind", function()
  local path = strategy [[
    local cawb = require "cawb"
    local c = assert(cawb.candidate "kernels/softmax/v2_block_per_row")
    return { step = function(run)
      if #run.turns == 2 then
        local pids = { run.task.device.worker:pid(), run.task.host:pid() }
        io.stderr:write("pids ", table.concat(pids, " "), "\n")
        io.popen("kill -KILL " .. io.open("/proc/self/stat"):read "n"):close()
      end
      return run:evaluate(c)
    end }]]
  local _, status, err = run(path .. " examples/softmax.py --quiet " .. small)
  check.equal(status, 137)
  local store <close> = assert(core.store.open(dir .. "/runs"))
  local last = assert(store:query "SELECT id FROM runs ORDER BY started DESC LIMIT 1")[1].id
  check.equal(#assert(store:query("SELECT * FROM turns WHERE run = ?", last)), 2)
  check.equal(#assert(store:query("SELECT * FROM run_ends WHERE run = ?", last)), 0)
  for pid in err:match "pids ([%d ]+)":gmatch "%d+" do
    local _, gone = check.shell(("timeout 20 tail --pid=%s -f /dev/null"):format(pid))
    check.equal(gone, 0, "waiting for process " .. pid .. " to end")
  end
end)

check.test("without a toolkit NVRTC comes from PyTorch's packages", function()
  local out, status = check.shell(("CAWB_HIDE_TOOLKIT=1 %s examples/01_compile.lua sim:h100 2>&1"):format(cawb))
  check.equal(status, 0, out)
  out = check.shell(("CAWB_HIDE_TOOLKIT=1 %s doctor 2>&1"):format(cawb))
  check.matches(out, "NVRTC%s+PyPI packages")
end)

check.test("a task that no family serves", function()
  local task = check.write(dir .. "/odd.py", [[
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.fft.fft(x).abs()
def get_inputs():
    return [torch.randn(8, 8)]
def get_init_inputs():
    return []
]])
  local out, status = run("strategies/ladder.lua --device sim:h100 " .. task)
  check.equal(status, 1)
  check.matches(out, "no kernel family serves this task")
end)

check.test("a factor that is transposed in memory is not taken for a plain one, square or not", function()
  local task = check.write(dir .. "/transposed.py", [[
import torch
class Model(torch.nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b.T)
def get_inputs():
    return [torch.randn(32, 32), torch.randn(32, 32)]
def get_init_inputs():
    return []
]])
  local out, status = run("strategies/ladder.lua --device sim:h100 " .. task)
  check.equal(status, 1)
  check.matches(out, "matmul: it takes inputs as they lie in memory, not through aten%.%l+%.default")
end)

return check.done()
