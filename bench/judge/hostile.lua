-- cawb bench/judge/hostile.lua [DEVICE] [N] [SEED]: N candidates in a row, a seeded mixture of
-- hostile ones between good ones, about every third. Every good one must pass, in about
-- the time it always takes; every hostile one must be rejected, for the reason that it
-- is; and at the end nothing may be left of them: no memory on the device, no zombie, no
-- baseline that has changed. Prints a table and one JSON object; exit status 1 when
-- anything is not as it must be.

local core = require "cawb.core"
local cawb = require "cawb"
local evaluate = require "cawb.judge.evaluate"
local options = require "cawb.base.options"
local display = require "cawb.base.display"
local stats = require "cawb.base.stats"

local name, count, seed = ... or "auto", tonumber((select(2, ...)) or 300), (select(3, ...)) or "1"
local root = arg[0]:match "^(.*)/" or "."

local head = [[extern "C" __global__ void k(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
]]
local launch = [[launch("k", { grid = (inputs[1].numel + 255) // 256, block = 256 }, outputs[1], inputs[1], inputs[1].numel)]]

local function body(text, before) return { source = (before or "") .. head .. text .. "\n}\n", plan = launch } end
local right = "if (i < n) y[i] = 2 * x[i];"

-- Each: a candidate, what its reason must say, and whether only a GPU does it.
local kinds = {
  { "a read far out of bounds", body("if (i < n) y[i] = 2 * x[i + (1ll << 38)];"), "illegal memory|illegal address|past the end|before the start|outside" },
  { "a write far out of bounds", body("if (i < n) y[i + (1ll << 38)] = 2 * x[i];"), "illegal memory|illegal address|past the end|before the start|outside" },
  { "a write one element too far", body(right .. " if (i == 0) y[n] = 1;"), "past the end" },
  { "a null pointer", body("if (i < n) y[i] = *(volatile float *)(x - x);"), "illegal memory|illegal address|null" },
  { "a misaligned address", body("if (i < n) y[i] = *(const float *)((const char *)x + 4 * i + 1);"), "misaligned|aligned" },
  { "an endless loop", body("while (((volatile float *)y)[0] != 1.0f) {}"), "did not end in time" },
  { "a trap", body("if (i == 7) asm(\"trap;\"); " .. right), "trap|illegal instruction|unspecified launch" },
  { "an assertion by hand", body("if (i == 7) __trap(); " .. right), "trap|illegal instruction|unspecified launch" },
  { "nothing written", body("if (i < 0) y[i] = x[i];"), "never written" },
  { "one element not written", body("if (i != 5 && i < n) y[i] = 2 * x[i];"), "never written" },
  { "a wrong element", body("if (i < n) y[i] = 2 * x[i] + (i == 11);"), "is wrong" },
  { "a NaN", body("if (i < n) y[i] = i == 3 ? 0.0f / (x[i] - x[i]) : 2 * x[i];"), "NaN" },
  { "writes its input", body("if (i < n) { y[i] = 2 * x[i]; ((float *)x)[i] = 0; }"), "wrote to an input|writes to" },
  { "right only where it ran before", body("if (i < n) y[i] = count == 0 ? 1 : 2 * x[i]; if (i == 0) count = 1;",
    "__device__ int count;\n"), "is wrong" },
  { "recursion without an end", body("if (i < n) y[i] = deep(x[i], n);",
    "__device__ __noinline__ float deep(volatile float v, int n) { volatile float a[64]; a[n & 63] = v; "
    .. "return n < -5 ? v : deep(a[n & 63] + 1, n) + a[(n + 1) & 63]; }\n"), "", true },
  { "a flood of printf", body("for (int k = 0; k < 40; k++) printf(\"%d %d\\n\", i, k); if (i < n) y[i] = 1;"), "is wrong|did not end in time", true },
  { "the device's heap", body("float *p = (float *)malloc(1 << 20); if (i < n) y[i] = p ? 1.0f : 0.5f;"), "", true },
  { "a grid of 2^31 blocks", { source = head .. right .. "\n}\n",
    plan = [[launch("k", { grid = 2147483648, block = 256 }, outputs[1], inputs[1], inputs[1].numel)]] }, "grid" },
  { "a block of 4096 threads", { source = head .. right .. "\n}\n",
    plan = [[launch("k", { grid = 1, block = 4096 }, outputs[1], inputs[1], inputs[1].numel)]] }, "block" },
  { "too much shared memory", { source = head .. right .. "\n}\n",
    plan = [[launch("k", { grid = 1, block = 256, shared = 1 << 20 }, outputs[1], inputs[1], inputs[1].numel)]] }, "shared" },
  { "more scratch than there is", { source = head .. right .. "\n}\n",
    plan = [[local s = scratch(1 << 45)
launch("k", { grid = 1, block = 256 }, outputs[1], s, inputs[1].numel)]] }, "scratch|room|memory|bytes" },
  { "a kernel that is not there", { source = head .. right .. "\n}\n",
    plan = [[launch("missing", { grid = 1, block = 256 }, outputs[1])]] }, "missing" },
  { "a plan that never ends", { source = head .. right .. "\n}\n", plan = "while true do end" }, "instructions|too long|did not end" },
  { "no C++", { source = "this is no kernel", plan = launch }, "error" },
}

local function good(i)
  return cawb.candidate { source = head .. right .. ("\n}\n// %d\n"):format(i), plan = launch, name = "good" }
end

local simulated = name:match "^sim:"
local playable = {}
for _, kind in ipairs(kinds) do
  if not (kind[4] and simulated) then playable[#playable + 1] = kind end
end

local state = tonumber(core.hash.sha256(seed):sub(1, 12), 16)
local function draw(n)
  state = (state * 6364136223846793005 + 1442695040888963407)
  return (state >> 33) % n + 1
end

local all = options.copy(cawb.defaults)
all.deadlines.run, all.deadlines.measure = 1.0, 5.0
all.measure.budget, all.verify.trials = 0.3, 3
all.sanitize.faults = false                  -- seconds each; tests/cuda/gpu/test_sanitizer.lua has it
local device <close> = assert(cawb.device(name))
local task <close> = assert(cawb.task(root .. "/chain/task.py", { device = device, options = all }))

local function memory_used()
  if simulated then return nil end
  local pipe = io.popen "nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits 2>/dev/null"
  local line = pipe and pipe:read "l"
  if pipe then pipe:close() end
  return line and tonumber(line)
end

-- Processes of ours that have ended and that nobody has asked after.
local function zombies()
  local me, n = io.open("/proc/self/stat"):read "n", 0
  for _, pid in ipairs(core.fs.list "/proc") do
    local f = pid:match "^%d+$" and io.open("/proc/" .. pid .. "/stat")
    local line = f and f:read "l"
    if f then f:close() end
    local status, parent = (line or ""):match "%) (%a) (%d+)"
    if status == "Z" and tonumber(parent) == me then n = n + 1 end
  end
  return n
end

local function matches(reason, words)
  if words == "" then return true end
  for word in words:gmatch "[^|]+" do if reason:lower():find(word:lower()) then return true end end
end

local tally, wrong, times, replaced = {}, {}, {}, {}
local function note(what, ok, facts, took)
  local t = tally[what] or { n = 0, ok = 0, took = {}, reason = "" }
  tally[what] = t
  t.n, t.ok = t.n + 1, t.ok + (ok and 1 or 0)
  t.took[#t.took + 1] = took
  t.reason = facts.reason or t.reason
  if not ok then
    wrong[#wrong + 1] = ("%s: %s"):format(what, facts.ok and "it passed" or tostring(facts.reason))
  end
end

local function play(what, candidate, judge)
  local from = core.clock.now()
  local facts = assert(evaluate.candidate(task, candidate, all))
  note(what, judge(facts), facts, core.clock.now() - from)
  return facts
end

local function play_good(i)
  local workers, from = device.workers, core.clock.now()
  local facts = play("good", good(i), function(f) return f.ok end)
  if facts.ok then times[#times + 1] = facts.time_s.median end
  if device.workers > workers then replaced[#replaced + 1] = core.clock.now() - from end
end

play_good(0)
assert(tally.good.ok == 1, wrong[1])
local first = task.baselines.eager
local memory, began = memory_used(), core.clock.now()
for i = 1, count do
  if draw(3) == 1 then play_good(i)
  else
    local kind = playable[draw(#playable)]
    play(kind[1], cawb.candidate { source = kind[2].source .. ("\n// %d\n"):format(i), plan = kind[2].plan },
      function(f) return not f.ok and matches(f.reason, kind[3]) end)
  end
end
local seconds = core.clock.now() - began
play_good(count + 1)
local last = task.baselines.eager

local lists, rows = {}, {}
for what in pairs(tally) do lists[#lists + 1] = what end
table.sort(lists)
for _, what in ipairs(lists) do
  local t = tally[what]
  rows[#rows + 1] = { what, tostring(t.n), tostring(t.ok), display.time(stats.quantile(t.took, 0.5)),
    (t.reason:gsub("%s+", " "):sub(1, 90)) }
end
for _, line in ipairs(display.table({ "kind", "n", "as it must be", "median turn", "last reason" }, rows)) do print(line) end

local spread = stats.summary(times)
local drift = first.time_s and last.time_s and last.time_s.median / first.time_s.median
local after = memory_used()
local data = { device = device.info, count = count, seed = seed, seconds = seconds, wrong = wrong,
  good_time_s = spread, slowest_good_s = math.max(table.unpack(times)), zombies = zombies(),
  memory_used_mib = { before = memory, after = after }, eager_ratio = drift,
  workers = device.workers, replaced_s = #replaced > 0 and stats.summary(replaced) or nil,
  version = cawb.version, when = os.date "!%Y-%m-%d" }
print(("%s: %d candidates in %s; good ones take %s%s; %d workers"):format(device.info.model, count,
  display.time(seconds), display.interval(spread), device.info.modelled and " modelled" or "", device.workers))
if data.replaced_s then
  print(("a whole turn with a new worker: %s"):format(display.interval(data.replaced_s)))
end
if memory then print(("device memory in use: %d MiB before, %d MiB after"):format(memory, after)) end
print(("zombies: %d; eager at the end over eager at the start: %s"):format(data.zombies,
  drift and ("%.3f"):format(drift) or "-"))
for _, text in ipairs(wrong) do print("NOT AS IT MUST BE: " .. text) end
print(core.json.encode(data))
local sane = #wrong == 0 and data.zombies == 0 and data.slowest_good_s < 1.5 * spread.median
  and (not drift or math.abs(drift - 1) < 0.25) and (not memory or after - memory < 64)
return sane and 0 or 1
