"""A store with runs and a suite, by the script that fills it: what tests of `cawb report` look at."""
FILL = r"""
local core = require "cawb.core"
local dir, turns, from = ...
local store, encode = assert(core.store.open(dir)), core.json.encode
local function s(x) return { median = x, lo = x * 0.98, hi = x * 1.02, samples = 9 } end
assert(store:begin())
store:insert("environments", { hash = "e", json = encode { manifest = { model = "H100 </script><b>", driver = "580" } } })
local first, second = "line one\nline two\n", "line one\nline 2 </script>\n"
for i, text in ipairs { first, second, "line one\nline 5\n" } do
  store:insert("candidates", { hash = "c" .. i, kind = "tier1", files = encode { ["kernel.cu"] = assert(store:artifact(text)) } })
end
store:insert("runs", { id = "r", started = 1.0, strategy = "a.lua", task = "t.py", device = "cuda:0", environment = "e", modelled = false, options = "{}" })
for n = 1, math.tointeger(turns) do
  local ok, x = n % 5 ~= 0, 0.5 + (n * 7919 % 1000) / 500
  local facts = n == 1 and { floor = { memory = 5e-6, compute = 1e-6, read = 1e7, written = 1e7, flops = 1e8, source = "measured" },
    profile = { source = "cupti", metrics = { registers = 40, spills = 0 }, roofline = { sentence = "limited by DRAM" } } } or {}
  store:insert("turns", { run = "r", number = n, started = 1.0 + n, candidate = n == 1 and "c1" or n == 5 and "c3" or "c2", ok = ok,
    stage = not ok and "verify" or nil, reason = not ok and "outputs[1] <i>is</i> wrong" .. (n == 5 and "\nat element 7" or "") or nil, reward = ok and x or -1.0,
    result = encode { number = n, name = "k/v" .. n, ok = ok, jail = n == 1 and "namespaces, seccomp" or nil,
      note = n == 5 and "tried a wider tile" or nil, spent = { tokens = 1000 * n, dollars = 0.5, replies = n },
      bound = ok and n < 4 and { memory = 5e-6, launch = 4e-6, l2 = 1e-7, shared = 0 } or nil,
      equal_error = ok and { against = "compile", median = x / 2, lo = x * 0.49, hi = x * 0.51, verdict = x / 2 > 1 and "faster" or "slower" } or nil,
      jail_lacks = n < 3 and { "no control group <i>" } or nil, denormals = n == 1 and "flushed" or "kept", repeatable = n ~= 2, seconds = { compile = 0.1 }, time_s = ok and s(1e-5 / x) or nil,
      speedup = ok and { eager = s(x), compile = s(x / 2) } or nil, error = ok and { nrms = 1e-8 * (1 + n % 7), worst = 1e-7 } or nil } })
  if n == 1 or n == turns then store:insert("evaluations", { run = "r", turn = n, number = 0, ok = ok, facts = encode(facts) }) end
end
store:insert("baselines", { run = "r", subject = "eager", modelled = false, median = 1e-5, lo = 1e-5, hi = 1e-5, json = encode { error = { nrms = 2e-8 } } })
for i, m in ipairs {
  { chat = 1, role = "system", text = "write a <b>kernel</b>" },
  { chat = 1, role = "assistant", text = "A wider tile.", usage = { input = 900, output = 100 }, cost = 0.25,
    calls = { { id = "a", name = "write_file", arguments = encode { path = "kernel.cu", text = ("line\n"):rep(20) } } } },
  { chat = 1, role = "tool", name = "measure", text = "rejected </script>", failed = true, turn = 5, reward = -1.0 } } do
  store:insert("events", { run = "r", number = i, at = 1.0 + i, kind = "message", turn = m.turn, data = encode(m) })
end
store:insert("run_ends", { run = "r", ended = 9.0, status = "passed", summary = encode { ended = "turns", spent = { replies = 10000, tokens = 1e7, dollars = 0.5 } } })
store:insert("suites", { id = "s", json = encode { strategy = "a.lua" } })
store:insert("suite_sessions", { suite = "s", started = 1.0, json = encode { suite = from or "data/KernelBench/level_1.parquet", tasks = { "task1", "task2", "task3", "task4" },
  devices = { "cuda:0" } } })
for i, status in ipairs { "pass", "no candidate", "pass" } do
  store:insert("suite_tasks", { suite = "s", task = "task" .. i, attempt = 1, level = 1, problem_id = i, name = "t", code = "h", status = status,
    reason = status ~= "pass" and "no family:\nconv" or nil, started = 1.0, ended = 2.0, run = "r",
    json = encode { turns = 5, best = status == "pass" and { name = "k", libraries = { "cuBLAS" }, time_s = s(99e-5), speedup = { eager = s(2.0 / i), compile = s(1.5) },
      floor = i == 1 and { seconds = 495e-6 } or nil,
      error = { nrms = 1e-7 * i }, equal_error = { against = "eager", median = 2.0 / i, lo = 1.96 / i, hi = 2.04 / i } } or nil } })
end
assert(store:commit())
"""
