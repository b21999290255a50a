-- Whole suites on the simulated device. `cawb tests/suite/test_bench.lua N` kills one with
-- kill -9 at N random moments (3).

local check = dofile "tests/support/check.lua"
local bench = require "cawb.suite.bench"
local core = require "cawb.core"
local rows = require "cawb.suite.rows"
local suite = require "cawb.suite.suite"
local report_answer = require "cawb.suite.report_answer"
local suite_report = require "cawb.suite.report"

local kills = math.tointeger(tonumber((...))) or 3
local dir = check.folder()

local function cawb(words)
  local out, status = check.shell(("('%s' %s) 2>%s/err"):format(core.program, words, dir))
  local f = assert(io.open(dir .. "/err"))
  local err = f:read "a"
  f:close()
  return out, status, err
end

-- Tasks for three different ends, in the columns of the published data set.
local function task(size, body)
  return ([[
import torch
size = %d
class Model(torch.nn.Module):
    def forward(self, x):
        return %s
def get_inputs():
    return [torch.randn(4, size)]
def get_init_inputs():
    return []
]]):format(size, body)
end

local entries = {
  { level = 1, problem_id = 1, name = "1_ReLU", code = task(128, "torch.relu(x)") },
  { level = 1, problem_id = 2, name = "2_Softmax", code = task(64, "torch.softmax(x, dim=-1)") },
  { level = 1, problem_id = 3, name = "3_FFT", code = task(64, "torch.fft.fft(x).real") },
  { level = 2, problem_id = 1, name = "1_Broken", code = "import nosuch\n" },
  { level = 2, problem_id = 2, name = "2_Tanh", code = task(96, "torch.tanh(x)") },
}
local lines = {}
for i, e in ipairs(entries) do lines[i] = core.json.encode(e) end
local jsonl = check.write(dir .. "/suite.jsonl", table.concat(lines, "\n") .. "\n")
local flags = " --device sim:h100 --set turns=1 --set sweep.variants=1 --set verify.trials=1 --seed 7 "
local ladder = "bench strategies/ladder.lua " .. jsonl .. flags

-- What a suite ended as, without what differs from run to run.
local function ends(out)
  local store <close> = assert(core.store.open(out))
  local list = {}
  for _, s in ipairs(rows.suites(store)) do
    for _, row in ipairs(rows.read(store, s.id)) do
      local best = row.data.best or {}
      list[#list + 1] = ("%s %s %d %s %s %s %s"):format(row.task, row.status, row.attempt, tostring(best.hash),
        tostring(best.reward), best.time_s and ("%.12g"):format(best.time_s.median) or "-",
        best.error and ("%.12g"):format(best.error.nrms) or "-")
    end
    local n = store:query("SELECT count(*) AS n FROM suite_tasks")[1].n
    check.equal(n, #list, "rows in the store")
  end
  return table.concat(list, "\n")
end

check.test("a suite is read from JSON Lines, a folder and a Lua table alike", function()
  local list = assert(suite.load(jsonl))
  check.equal(#list, 5)
  check.equal(list[1].key, "1/1_ReLU")
  local folder = dir .. "/tasks/level1"
  assert(core.fs.mkdir(folder))
  check.write(folder .. "/1_ReLU.py", entries[1].code)
  local same = assert(suite.load(dir .. "/tasks"))
  check.equal(same[1].key, "1/1_ReLU")
  check.equal(same[1].hash, list[1].hash)
  local path = check.write(dir .. "/suite.lua",
    'return { "tasks/level1/1_ReLU.py", { path = "tasks/level1/1_ReLU.py", name = "small", task = { size = 32 } } }')
  list = assert(suite.load(path))
  check.equal(list[2].key, "small")
  check.equal(list[2].overrides.size, 32)
  assert(list[1].hash ~= list[2].hash)
end)

check.test("a folder of folders is a suite: equal names take their folders in, and modules that tasks import are no tasks", function()
  local root = dir .. "/nested"
  for _, folder in ipairs { "first", "second", "second/deep" } do
    assert(core.fs.mkdir(("%s/%s"):format(root, folder)))
    check.write(("%s/%s/task.py"):format(root, folder), entries[1].code)
  end
  check.write(root .. "/first/shared.py", "size = 64\n")
  check.write(root .. "/alone.py", "import torch\ndef op(x):\n    return x + 1\nexamples = [torch.ones(4)]\n")
  local keys = {}
  for i, task in ipairs(assert(suite.load(root))) do keys[i] = task.key end
  table.sort(keys)
  check.equal(table.concat(keys, " "), "alone first_task second_deep_task second_task")
  assert(#assert(suite.load "examples") > 20)
  assert(core.fs.mkdir(root .. "/none"))
  check.matches(select(2, suite.load(root .. "/none")), "there is no task in it: no %.py file with get_inputs or examples")
end)

check.test("rows of operators without a name get one", function()
  local path = check.write(dir .. "/ops.jsonl", core.json.encode { ops = '["nn.Linear", "torch.relu"]',
    data_source = "x", code = "pass" } .. "\n")
  check.equal(assert(suite.load(path))[1].key, "1_nn.Linear+torch.relu")
end)

check.test("Parquet is read where pyarrow is, and asks for it elsewhere", function()
  local path = dir .. "/suite.parquet"
  check.write(dir .. "/make.py", ([[
import pyarrow, pyarrow.parquet
pyarrow.parquet.write_table(pyarrow.table({"level": [1, 2], "problem_id": [7, 8], "name": ["7_A", "8_B"], "code": ["pass", "x = 1"]}), %q)
]]):format(path))
  local python = os.getenv "CAWB_PYTHON" or "python3"
  local _, status = check.shell(("'%s' %s/make.py 2>/dev/null"):format(python, dir))
  if status ~= 0 then check.write(path, "PAR1") end
  local list, message = suite.load(path)
  if status ~= 0 then
    check.equal(list, nil)
    check.matches(message, "needs pyarrow: .* %-m pip install pyarrow")
    return
  end
  check.equal(list[2].key, "2/8_B")
  check.equal(list[2].code, "x = 1")
end)

check.test("filters, and shards that are a partition", function()
  local list = assert(suite.load(jsonl))
  check.equal(#suite.filter(list, { level = "2" }), 2)
  check.equal(#suite.filter(list, { id = "1-2" }), 4)
  check.equal(suite.filter(list, { name = "Soft" })[1].problem_id, 2)
  local seen = {}
  for i = 1, 3 do
    for _, t in ipairs(suite.filter(list, { shard = i .. "/3" })) do
      assert(not seen[t.key])
      seen[t.key] = true
    end
  end
  for _, t in ipairs(list) do assert(seen[t.key], t.key) end
  for bad, says in pairs { ["4/3"] = "1 <= i <= n", x = "write i/n" } do
    local got, message = suite.filter(list, { shard = bad })
    check.equal(got, nil)
    check.matches(message, says)
  end
  check.matches(select(2, suite.filter(list, { level = "a" })), "write numbers and ranges")
end)

check.test("a suite that cannot be read says where and why", function()
  local function fails(text, says)
    local got, message = suite.load(check.write(dir .. "/bad.jsonl", text))
    check.equal(got, nil)
    check.matches(message, says)
  end
  fails('{"name": "a", "code": "x"}\n{', "bad.jsonl:2: malformed JSON")
  fails('{"name": "a"}\n', "bad.jsonl:1: the row has no 'code'")
  fails('{"name": "a", "problem_id": 1, "code": "x"}\n{"name": "a", "problem_id": 1, "code": "y"}\n',
    "two tasks are called 1_a")
  fails("\n", "there is no task in it")
end)

check.test("wrong words are exit code 2", function()
  for words, says in pairs {
    ["bench strategies/ladder.lua"] = "a strategy and a suite are needed",
    ["bench strategies/ladder.lua nosuch.jsonl --device sim:h100"] = "there is no such file",
    ["bench strategies/ladder.lua " .. jsonl .. " --set turms=1"] = "did you mean 'turns'",
    ["bench strategies/ladder.lua " .. jsonl .. " --shard 5"] = "write i/n",
    ["bench strategies/ladder.lua " .. jsonl .. " --level 9 --device sim:h100"] = "no task of the suite is left",
  } do
    local _, status, err = cawb(words)
    check.equal(status, 2, words .. ": " .. err)
    check.matches(err, says)
  end
end)

local whole = dir .. "/whole"

check.test("every task has its end, with its name", function()
  local out, status, err = cawb(ladder .. "--out " .. whole)
  check.equal(status, 0, err)
  check.matches(out, "5 of 5 tasks: 3 pass, 1 no candidate, 1 refused")
  check.equal(out:find("reported by its authors", 1, true), nil, "others' rates are of another benchmark")
  check.matches(err, "1/3_FFT  no candidate: no kernel family serves this task")
  check.matches(err, "2/1_Broken  refused: .*No module named 'nosuch'")
  check.matches(err, "left %(")                -- after three tasks
  local again
  out, status, again = cawb(ladder .. "--out " .. whole)
  check.equal(status, 0, again)
  check.matches(out, "5 of 5 tasks")
  assert(not again:find("1/1_ReLU", 1, true), "it ran again: " .. again)
end)

check.test(("killed %d times with kill -9, it ends with the same rows"):format(kills), function()
  local out, want = dir .. "/killed", ends(whole)
  local random, done = core.clock.random, 0
  while done < kills do
    local seconds = 0.3 + string.unpack("<I2", random(2)) / 65536 * 12
    local _, status, err = cawb(ladder .. "--out " .. out .. (" & p=$!; (sleep %.2f; kill -9 $p) 2>/dev/null & wait $p")
      :format(seconds))
    assert(status == 0 or status == 137, err)
    done = done + 1
    if status == 0 and kills <= 5 then break end
    if status == 0 then                        -- it was faster than the axe: begin anew
      check.equal(ends(out), want)
      os.execute("rm -rf '" .. out .. "'")
    end
  end
  local _, status, err = cawb(ladder .. "--out " .. out)
  check.equal(status, 0, err)
  check.equal(ends(out), want)
end)

check.test("two at once on one store: each task once", function()
  local out = dir .. "/both"
  local one = ("'%s' %s --level 1 --out %s"):format(core.program, ladder, out)
  local text, status = check.shell(("(%s & %s & wait) 2>&1; %s"):format(one, one, one))
  check.equal(status, 0, text)
  local store <close> = assert(core.store.open(out))
  check.equal(store:query("SELECT count(*) AS n FROM suite_tasks")[1].n, 3)
  check.equal(store:query("SELECT count(*) AS n FROM runs")[1].n, 3)
end)

check.test("a strategy that sees at a glance that it has nothing does not wait for the device", function()
  local held <close> = assert(core.fs.lock(dir .. "/device.lock", true))       -- somebody measures
  local path = check.write(dir .. "/fft.py", task(64, "torch.fft.fft(x).real"))
  local out, status = check.shell(("'%s' compose %s --device sim:h100 --lock %s/device.lock --out %s/glance 2>&1"):format(core.program, path, dir, dir))
  check.equal(status, 1, out)
  check.matches(out, "_fft_r2c.* cannot be lowered")
end)

check.test("several devices share the tasks", function()
  local out = dir .. "/devices"
  local _, status, err = cawb((ladder:gsub("sim:h100", "sim:h100,sim:h100/4"):gsub("strategies/ladder.lua", "ladder")) .. "--level 1 --id 1,2 --out " .. out)
  check.equal(status, 0, err)
  check.matches(err, "2 tasks on sim:h100, sim:h100/4")
  local store <close> = assert(core.store.open(out))
  local names = {}
  for _, run in ipairs(store:query "SELECT DISTINCT device FROM runs ORDER BY device") do names[#names + 1] = run.device end
  check.equal(table.concat(names, " "), "sim:h100 sim:h100/4")
  _, status, err = cawb((ladder:gsub("sim:h100", "sim:h100,sim:nowhere")) .. "--out " .. out)
  check.equal(status, 2, err)
  check.matches(err, "nowhere")
end)

check.test("the time left follows from when tasks ended, two at once or one by one", function()
  check.equal(bench.time_left({ 10, 10 }, 5), nil)
  check.equal(bench.time_left({ 10, 10, 10 }, 0), nil)
  local even = bench.time_left({ 10, 10, 10 }, 5)
  check.equal(even.mean, 50.0)
  check.equal(even.hi, 50.0)
  check.equal(bench.time_left({ 20, 0, 20, 0 }, 6).mean, 60.0)
  local uneven = bench.time_left({ 8, 12, 8, 12 }, 4)    -- 40 +- 1.96 sqrt(4 * 16/3 + 16 * 16/3 / 4)
  check.equal(("%.2f %.2f"):format(uneven.lo, uneven.hi), "27.20 52.80")
end)

check.test("a run that takes its process down is one row; one that never ends is another", function()
  local path = check.write(dir .. "/deadly.lua", [[
    return { step = function(run)
      if run.task.name == "1_ReLU" then os.execute("kill -9 " .. io.open("/proc/self/stat"):read "n") end
      return run:give_up "no idea"
    end }]])
  local out, status, err = cawb(("bench %s %s --level 1 --id 1,3 --jobs 2 --out %s/deadly %s"):format(path,
    jsonl, dir, flags))
  check.equal(status, 0, err)
  check.matches(out, "2 of 2 tasks: 1 crashed, 1 no candidate")
  check.matches(err, "1/1_ReLU  crashed: the run was killed by signal 9")
  path = check.write(dir .. "/endless.lua", "return { step = function() while true do end end }")
  out, status, err = cawb(("bench %s %s --level 1 --id 2 --limit 3 --out %s/deadly %s"):format(path, jsonl,
    dir, flags))
  check.equal(status, 0, err)
  check.matches(out, "1 of 1 tasks: 1 timeout")
  check.matches(err, "2_Softmax  timeout: it took longer than 3 s")
  path = dir .. "/deadly.lua"
  local _, _, again = cawb(("bench %s %s --id 1 --level 1 --retry --out %s/deadly %s"):format(path, jsonl,
    dir, flags))
  check.matches(again, "1/1_ReLU  crashed")
  local store <close> = assert(core.store.open(dir .. "/deadly"))
  check.equal(store:query("SELECT max(attempt) AS n FROM suite_tasks WHERE task = '1/1_ReLU'")[1].n, 2)
end)

-- A strategy on a device of which others hold the memory, at the first of tries or at each of them.
local full = [[
  return { deadlines = { room = 0.01 }, step = function(run)
    local file = ("%s/tried."):format(os.getenv "FULL_DIR") .. run.task.name
    local before = io.open(file)
    if run.task.name == "1_Full" and (not before or os.getenv "FULL_ALWAYS") then
      io.open(file, "w"):close()
      local ask, call = run.task.ask, run.task.device.call
      run.task.ask = function(self, request, ...)
        if request.op == "room" then return { total = 80 << 30, free = 1 << 30, own = 1 << 30 } end
        return ask(self, request, ...)
      end
      run.task.device.call = function(self, request, ...)
        if request.op == "load" then return nil, "no room for scratch[1]", "memory" end
        return call(self, request, ...)
      end
    end
    run:evaluate(assert(require "cawb".candidate "kernels/softmax/v1_thread_per_row"))
    return false
  end }]]

check.test("a task that finds the device's memory held by others is put off until it is alone, once", function()
  local two = {}
  for i, name in ipairs { "1_Full", "2_Room" } do two[i] = core.json.encode { level = 1, problem_id = i, name = name, code = task(32 * i, "torch.softmax(x, dim=-1)") } end
  local path = check.write(dir .. "/full.lua", full)
  local words = ("bench %s %s --jobs 2 %s --set verify.battery= --set measure.against= --out %s/full"):format(path,
    check.write(dir .. "/full.jsonl", table.concat(two, "\n") .. "\n"), flags, dir)
  local f = ("FULL_DIR='%s' '%s' %s 2>%s/err"):format(dir, core.program, words, dir)
  local out, status = check.shell(f)
  local err = assert(io.open(dir .. "/err")):read "a"
  check.equal(status, 0, err)
  check.matches(err, "1/1_Full  put off until it has the device to itself: no room for scratch%[1%].*other programs hold")
  check.matches(out, "2 of 2 tasks: 2 pass")
  local store <close> = assert(core.store.open(dir .. "/full"))
  local by = {}
  for _, r in ipairs(rows.read(store, rows.suites(store)[1].id)) do by[r.name] = r end
  check.equal(by["1_Full"].attempt, 1)
  assert(by["1_Full"].started >= by["2_Room"].ended, "it was not alone")
  out, status = check.shell((f:gsub("%-%-out (%S+)/full", "--out %1/always"):gsub("^", "FULL_ALWAYS=1 ")))
  err = assert(io.open(dir .. "/err")):read "a"
  check.matches(out, "2 of 2 tasks: 1 error, 1 pass", err)
  check.matches(err, "put off.*1/1_Full  error: no room for scratch%[1%]; after 0 s of waiting other programs hold 83751862272 of 85899345920 bytes")
end)

check.test("Ctrl-C ends it with 130; what was done stays done", function()
  local out = dir .. "/stopped"
  local told = ("timeout 60 sh -c 'until grep -q 1/1_ReLU %s/err; do sleep 0.1; done'"):format(dir)
  local _, status, err = cawb(("%s--out %s & p=$!; (%s; kill -INT $p) & wait $p"):format(ladder, out, told))
  check.equal(status, 130, err)
  local store <close> = assert(core.store.open(out))
  local done = assert(rows.read(store, rows.suites(store)[1].id))
  assert(#done >= 1 and #done < #entries and done[1].status == "pass", #done .. " rows")
end)

-- ---- numbers

local function row(level, status, eager, compile, more)
  local function s(x) return x and { median = x, lo = x - 0.01, hi = x + 0.01 } end
  local best = status == "pass" and { time_s = { median = 1e-5, lo = 1e-5, hi = 1e-5, samples = 9 },
    speedup = { eager = s(eager), compile = s(compile) } } or nil
  for k, v in pairs(more or {}) do best[k] = v end
  return { task = "t", level = level, status = status, data = { best = best } }
end

check.test("rates are of all tasks, means of those that passed; Wilson and bootstrap", function()
  local n = suite_report.numbers { row(1, "pass", 2.0, 0.5), row(1, "pass", 8.0, 2.0), row(1, "rejected"),
                                   row(2, "pass", 1.04, 1.1) }
  check.equal(#n.groups, 3)
  local one, all = n.groups[1], n.groups[3]
  check.equal(one.level, 1)
  check.equal(one.pass.k, 2)
  check.equal(one.pass.n, 3)
  assert(math.abs(one.geomean.eager.value - 4) < 1e-12)          -- sqrt(2 * 8)
  assert(math.abs(one.geomean.compile.value - 1) < 1e-12)
  check.equal(one.median.eager.value, 5.0)
  check.equal(all.faster.eager.k, 2)                              -- 1.04 is below the margin
  check.equal(all.faster.compile.k, 2)
  -- 2 of 3 by Wilson: (0.6667 + 0.6403) / 2.2805 -+ 0.3652
  assert(math.abs(one.pass.lo - 0.2077) < 5e-4 and math.abs(one.pass.hi - 0.9385) < 5e-4)
  assert(one.geomean.eager.lo <= 2.0 + 1e-9 and one.geomean.eager.hi >= 8.0 - 1e-9)   -- of two values: both ends
  local at = {}
  for _, p in ipairs(all.curve.compile) do at[p.p] = p.share.k end
  check.equal(at[0.5], 3)
  check.equal(at[1.05], 2)
  check.equal(at[2.0], 1)
end)

check.test("a speed-up whose interval holds a tie is none", function()
  local r = row(1, "pass", 1.2, 1.2)
  r.data.best.speedup.eager.lo = 0.99
  local g = suite_report.numbers({ r }).groups[1]
  check.equal(g.faster.eager.k, 0)
  check.equal(g.faster.compile.k, 1)
end)

check.test("what is suspicious comes first, and is in no average", function()
  local list = { row(1, "pass", 2.0, 2.0), row(1, "pass", 40.0, 30.0),
    row(1, "pass", 2.0, 2.0, { flags = { { rule = "unsteady", reason = "from 1 to 9 us" } } }),
    row(1, "pass", 2.0, 2.0, { first = { time_s = { median = 2e-5 } } }) }
  list[2].task, list[3].task, list[4].task = "fast", "flagged", "moved"
  local n = suite_report.numbers(list)
  check.equal(#n.suspicious, 3)
  check.equal(n.groups[1].pass.k, 4)                              -- all of them are right
  check.equal(n.groups[1].geomean.eager.value, 2.0)
  local lines = suite_report.lines(list, "ours")
  check.matches(lines[1], "^Suspicious")
  check.matches(table.concat(lines, "\n"), "fast: 30.00x .- over the better of eager and compile, and no fresh worker has confirmed it")
  check.matches(table.concat(lines, "\n"), "moved: 20 us at first, 10 us when it was confirmed")
end)

check.test("ten times TF32's time, or max-autotune's, is as suspicious where eager and compile were not timed", function()
  local function over(list)
    local one = row(1, "pass")
    for kind, x in pairs(list) do one.data.best.speedup[kind] = { median = x, lo = x, hi = x } end
    return (table.concat(suite_report.suspicions(one), "\n"))
  end
  check.matches(over { eager_tf32 = 12.0, compile_tf32 = 11.0 }, "^11.00x .-over the better of the baselines, and no fresh")
  check.matches(over { max_autotune = 10.0 }, "^10.00x ")
  check.equal(over { eager_tf32 = 12.0, max_autotune = 9.9 }, "")
  check.equal(over { eager = 2.0, max_autotune = 12.0 }, "")
end)

check.test("far faster, confirmed by a fresh worker and explained by the necessary work, counts; one mean holds it all", function()
  local function equal(x, more)
    local r = row(1, "pass", x, x, more)
    r.data.best.equal_error = { median = x, lo = x, hi = x }
    return r
  end
  local function confirmed(seconds) return { first = { time_s = { median = 1e-5 } }, floor = seconds and { seconds = seconds, flops = 2e9, asked = 8e9, spared = "sum adds up" } } end
  local list = { equal(2.5), equal(40.0, confirmed(2e-6)), equal(40.0, confirmed()), equal(40.0, confirmed(2e-5)), equal(40.0), row(1, "rejected") }
  list[2].task = "rewritten"
  local n = suite_report.numbers(list)
  local g = n.groups[1]
  assert(math.abs(g.geomean.equal_error.value - 10) < 1e-12)      -- sqrt(2.5 * 40)
  check.equal(g.geomean.equal_error.n, 2)
  check.equal(g.pass.k, 5)
  check.equal(#n.suspicious, 3)
  check.matches(n.suspicious[1].why[1], "what the task must take is not known")
  check.matches(n.suspicious[2].why[1], "10 us is less than the 20 us that the task must take")
  check.matches(n.suspicious[3].why[1], "no fresh worker has confirmed it")
  check.matches(n.explained[1].why, "^40.00x .-it takes 10 us, PyTorch takes 400 us, and the task's own work at least 2 us; of the 8 GFLOP that PyTorch computes the result needs 2: sum adds up$")
  check.matches(table.concat(suite_report.lines(list, "ours"), "\n"), "explained by the task's necessary work.-\n  rewritten: 40.00x")
  check.matches(table.concat(report_answer.of_suite({ numbers = n, tasks = {}, set_out = 0 }).lines, "\n"), "right: 5 of 6")
end)

check.test("what others report stands beside their benchmark alone", function()
  local list = { row(1, "pass", 2.0, 2.0) }
  local function text_of(path) return table.concat(suite_report.lines(list, "ours", { path }), "\n") end
  for _, path in ipairs { "/data/KernelBench/level_1.parquet", "kernel-bench.jsonl", "some/level_2.parquet", "level3.jsonl" } do
    check.matches(text_of(path), "CUDA Agent %*.*reported by its authors, other hardware", path)
  end
  for _, path in ipairs { "my/suite.lua", "examples", "tasks.jsonl", "level_12.jsonl", "sea_level_rise/tasks.jsonl" } do
    check.equal(text_of(path):find("CUDA Agent", 1, true), nil, path)
  end
end)

check.test("a flag that only informs takes nothing out of an average", function()
  local n = suite_report.numbers { row(1, "pass", 2.0, 2.0, { flags = { { rule = "approximations", reason = "expf" } } }) }
  check.equal(#n.suspicious, 0)
  check.equal(n.groups[1].pass.k, 1)
end)

check.test("nothing passed: no mean, no error", function()
  local text = table.concat(suite_report.lines({ row(nil, "no candidate") }, "ours"), "\n")
  check.matches(text, "1 task: 1 no candidate")
end)

return check.done()
