-- cawb bench/kernelbench.lua FOLDER [DEVICE] [IDS] [--all]: how near do the ladders come to
-- the speed of a copy on KernelBench's own tasks, at full size? FOLDER/dev.jsonl holds one
-- task a line, with level, problem_id, name and code. IDS are level 1 problem ids with ","
-- between them. The last rung of the family that serves a task is evaluated, with --all
-- every one. Bytes: each input read once, each output written once. Prints JSON last.

local core = require "cawb.core"
local cawb = require "cawb"
local evaluate = require "cawb.judge.evaluate"
local execute = require "cawb.judge.execute"
local families = require "cawb.run.families"
local display = require "cawb.base.display"
local stats = require "cawb.base.stats"

local words, every = {}, false
for _, word in ipairs { ... } do
  if word == "--all" then every = true else words[#words + 1] = word end
end
local folder = assert(words[1], "usage: cawb bench/kernelbench.lua FOLDER [DEVICE] [IDS] [--all]")
local device <close> = assert(cawb.device(words[2] or "auto"))
local ids = words[3] or "23,39,47,49,53,89,91,93"

local scratch <close> = setmetatable({ path = os.tmpname() }, { __close = function(self)
  os.execute("rm -rf '" .. self.path .. "'")
end })
os.remove(scratch.path)
assert(core.fs.mkdir(scratch.path))

local function write(name, text)
  local path = ("%s/%s.py"):format(scratch.path, name)
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

-- Level 1 problems by id.
local function read_tasks()
  local tasks = {}
  for line in io.lines(folder .. "/dev.jsonl") do
    local entry = core.json.decode(line)
    if entry.level == 1 then tasks[math.tointeger(entry.problem_id)] = entry end
  end
  return tasks
end

local copy = cawb.candidate { name = "copy", source = [[
extern "C" __global__ void copy(float4 *__restrict__ y, const float4 *__restrict__ x, unsigned n) {
  unsigned first = blockIdx.x * 1024 + threadIdx.x;
  float4 held[4];
  for (int i = 0; i < 4; i++) if (first + 256 * i < n) held[i] = x[first + 256 * i];
  for (int i = 0; i < 4; i++) if (first + 256 * i < n) y[first + 256 * i] = held[i];
}]], plan = [[
local n = inputs[1].numel // 4
launch("copy", { grid = (n + 1023) // 1024, block = 256 }, outputs[1], inputs[1], n)]] }

local function bytes(task)
  local total = 0
  for _, list in ipairs { task.inputs, task.outputs } do
    for _, t in ipairs(list) do total = total + (t.bytes or 0) end
  end
  return total
end

-- Of 1 GB to 1 GB; of less where time is modelled, which costs time itself. The copy writes
-- what no task asks for, so it is timed and not judged.
local function time_copy()
  local path = write("copy", ([[
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return 2 * x
def get_inputs():
    return [torch.rand(%d)]
def get_init_inputs():
    return []
]]):format(device.info.modelled and 1 << 22 or 1 << 28))
  local task <close> = assert(cawb.task(path, { device = device }))
  local ran = assert(execute.call(task, copy, cawb.defaults,
    { op = "time", warmup = 3, samples = 100, budget = 2 }, "bench", 60))
  assert(ran.ok, ran.reason)
  return { bytes = bytes(task), time_s = stats.summary(ran.samples) }
end

-- The rungs asked for, each as its facts; what a rung says no to is kept as its reason.
local function climb(task)
  local family, why = families.match(task)
  if not family then return nil, why end
  local results = {}
  for n = every and 1 or #family.versions, #family.versions do
    local facts, message = evaluate.candidate(task, family:rung(n, task), cawb.defaults)
    facts = facts or { ok = false, reason = message }
    results[#results + 1] = { name = family.name .. "/" .. family.versions[n], label = facts.label,
      ok = facts.ok, reason = facts.reason, stage = facts.stage, time_s = facts.time_s,
      speedup = facts.speedup, error = facts.error }
  end
  return results
end

local function best_of(results)
  local best
  for _, r in ipairs(results) do
    if r.ok and not (best and best.time_s.median <= r.time_s.median) then best = r end
  end
  return best
end

-- The speed-up over the faster of the two.
local function over_better(r)
  local s = r.speedup or {}
  if not (s.eager and s.compile) then return s.eager or s.compile end
  return s.eager.median < s.compile.median and s.eager or s.compile
end

local function baseline(task, kind)
  local b = task.baselines[kind]
  return b and b.time_s and display.time(b.time_s.median) or "-"
end

local ceiling = time_copy()
ceiling.rate = ceiling.bytes / ceiling.time_s.median

local lines, entries = {}, {}
local function show(entry, task, total)
  local r = best_of(entry.rungs)
  if not r then
    local last = entry.rungs[#entry.rungs]
    lines[#lines + 1] = { entry.name, last.name, "-", "-", "-", "-", "-", "-", "-", "-", "fail" }
    io.stderr:write(("%s, %s: %s: %s\n"):format(entry.name, last.name, last.stage, last.reason))
    return
  end
  local rate, own, eager = total / r.time_s.median, r.error or {}, r.error and r.error.eager or {}
  lines[#lines + 1] = { entry.name, r.name:match "[^/]+$" .. " " .. (r.label or ""),
    display.interval(r.time_s), ("%.2f GB"):format(total / 1e9), ("%.2f"):format(rate / 1e12),
    ("%.1f%%"):format(100 * rate / ceiling.rate), baseline(task, "eager"),
    baseline(task, "compile"), display.speedup(over_better(r)),
    ("%.1e (%.1e)"):format(own.nrms or 0 / 0, eager.nrms or 0 / 0), "pass" }
end

local function bench(entry)
  local path = write(("level1_%d"):format(entry.id), entry.code)
  entry.code = nil
  local task <close>, message = cawb.task(path, { device = device })
  if not task then return message end
  local why
  entry.bytes = bytes(task)
  entry.rungs, why = climb(task)
  if not entry.rungs then return why end
  show(entry, task, entry.bytes)
  entry.baselines = task.baselines
end

local tasks = read_tasks()
for word in ids:gmatch "%d+" do
  local id = math.tointeger(word)
  local found = assert(tasks[id], ("dev.jsonl has no level 1 problem %d"):format(id))
  local entry = { id = id, name = ("#%d %s"):format(id, (found.name:gsub("^%d+_", ""))),
    code = found.code }
  entries[#entries + 1] = entry
  io.stderr:write(entry.name, "\n")
  entry.failed = bench(entry)
  if entry.failed then
    io.stderr:write(("%s: %s\n"):format(entry.name, entry.failed))
    lines[#lines + 1] = { entry.name, "-", "-", "-", "-", "-", "-", "-", "-", "-", "not run" }
  end
end

print(("%s%s; a float4 copy of %.0f MB each way: %s, %.2f TB/s"):format(device.info.model,
  device.info.modelled and ", modelled" or ", cold L2", ceiling.bytes / 2e6,
  display.interval(ceiling.time_s), ceiling.rate / 1e12))
for _, line in ipairs(display.table({ "task", "best rung", "time [95% interval]", "bytes, once",
  "TB/s", "of the copy", "eager", "compile", "over the better", "error (eager's)", "verdict" },
  lines)) do print(line) end
print(core.json.encode { device = device.info, copy = ceiling, tasks = entries,
  version = cawb.version, when = os.date "!%Y-%m-%d" })
