-- Rules: sets, options, what a rule can and cannot do, and each rule that came along.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local corpus = require "cawb.suite.redteam_kernels"
local evaluate = require "cawb.judge.evaluate"
local options = require "cawb.base.options"
local precision = require "cawb.judge.verify.precision"
local rule_facts = require "cawb.judge.rule_facts"
local rules = require "cawb.judge.rules"

local dir = check.folder()
local count = 0

-- A set of one rule with this text.
local function set_of(text, given)
  count = count + 1
  check.write(("%s/rule%d.lua"):format(dir, count), text)
  return rules.set(check.write(("%s/set%d.lua"):format(dir, count),
    ("return { rules = { ['rule%d.lua'] = %s } }"):format(count, given or "true")))
end

local function judge(text, facts, given)
  return rules.judge(assert(set_of(text, given)), facts, rules.stages)
end

check.test("what several sealed functions are told is read once, and no one of them changes it for another", function()
  local function call(text, first)
    return core.sealed.call { text = text, name = "t.lua", entry = "f", first = first, arguments = core.json.array { 2 },
                              memory = 1 << 20, instructions = 10000 }
  end
  local told <close> = core.sealed.data { a = { 1.5, "x" }, n = 7 }
  check.equal(call("return { f = function(t, more) t.n = t.n + more; t.a[1] = 0; return t.n end }", told), 9)
  check.equal(call("return { f = function(t, more) return t.n * t.a[1] * more end }", told), 21)
  told:close()
  check.raises("'first' is closed", call, "return { f = function() end }", told)
end)

check.test("a sealed function: data in, data out, and no way around", function()
  local function call(text, ...)
    return core.sealed.call { text = text, name = "t.lua", entry = "f", arguments = core.json.array { ... },
                              memory = 1 << 20, instructions = 100000 }
  end
  local got = call("return { f = function(a, b) return { sum = a.x + b, list = { 1, 2.5, 'z' }, no = false } end }",
    { x = 1 }, 2)
  check.equal(got.sum, 3)
  check.equal(got.list[2], 2.5)
  check.equal(got.no, false)
  check.equal(call "return { f = function() end }", nil)
  check.fails("candidate", "t%.lua:1: unknown name 'io'", call "return { f = function() return io.read() end }")
  check.fails("candidate", "too many instructions", call "return { f = function() while true do end end }")
  check.fails("candidate", "memory", call "local t = {} return { f = function() for i = 1, 1e6 do t[i] = {} end end }")
  check.fails("candidate", "table with the function 'f'", call "return 1")
  check.fails("candidate", "cannot hold a function", call "return { f = function() return { f = next } end }")
end)

check.test("a rule rejects, flags, or says nothing; its options come from the set", function()
  local text = [[return { stage = "plan", options = { most = 1 }, check = function(facts, options)
    if facts.n > options.most then return { reason = "n is " .. facts.n, evidence = { n = facts.n } } end end }]]
  local got = assert(judge(text, { n = 2 }))
  check.equal(got.rejected.reason, "n is 2")
  check.equal(got.rejected.evidence.n, 2)
  check.equal(got.rejected.stage, "plan")
  check.equal(assert(judge(text, { n = 1 })).rejected, nil)
  check.equal(assert(judge(text, { n = 2 }, "{ most = 5 }")).rejected, nil)
  got = assert(judge(text, { n = 2 }, "{ severity = 'flag' }"))
  check.equal(got.rejected, nil)
  check.equal(got.flags[1].reason, "n is 2")
  check.equal(assert(judge(text, { n = 2 }, "false")).asked, 0)
end)

check.test("a rule cannot change what others see, nor raise a verdict", function()
  local facts = { list = { 1, 2 }, ok = false }
  local got = assert(judge([[return { stage = "plan", check = function(facts)
    facts.list[1], facts.ok, facts.new = 99, true, 1
    return nil end }]], facts))
  check.equal(got.rejected, nil)
  check.equal(facts.list[1], 1)
  check.equal(facts.ok, false)
  check.equal(facts.new, nil)
  -- It runs in another state: nothing of this one is there.
  got = assert(judge([[return { stage = "plan", check = function() return { reason = tostring(require) } end }]], {}))
  check.matches(got.flags[1].reason, "unknown name 'require'")
  -- And what else it returns is not looked at.
  got = assert(judge([[return { stage = "plan", check = function()
    return { reason = "no", ok = true, severity = "flag" } end }]], facts))
  check.equal(got.rejected.reason, "no")
  check.equal(got.rejected.ok, nil)
end)

check.test("a rule that fails, or runs out, could not tell: it names its file and line", function()
  local function unknown(pattern, text, given)
    local got = assert(judge(text, {}, given))
    local finding = got.rejected or got.flags[1]
    check.equal(finding.unknown, true)
    check.equal(finding.severity, got.rejected and "reject" or "flag")
    check.matches(finding.reason, pattern)
    return got
  end
  unknown("rule%d+%.lua:2: .*nil value", "return { stage = 'plan', check = function(facts)\n return facts.a.b end }")
  unknown("rule%d+%.lua: it must return nothing, or a table with a 'reason'", "return { stage = 'plan', check = function() return true end }")
  unknown("rule%d+%.lua:1: too many instructions", "return { stage = 'plan', check = function() while true do end end }")
  unknown("rule%d+%.lua: it needs more than %d+ bytes of memory",
    "return { stage = 'plan', check = function() local t = {} for i = 1, 1e8 do t[i] = i end end }")
  unknown("it cannot say", "return { stage = 'plan', check = function() return { unknown = true, reason = 'it cannot say' } end }")
  local got = unknown("nil value", "return { stage = 'plan', check = function(facts) return facts.a.b end }", "{ unknown = 'reject' }")
  check.matches(got.rejected.reason, "rule%d+%.lua:1: ")
  local slow = assert(set_of [[return { stage = "plan", check = function()
    local t = {}
    for i = 1, 1e5 do t[i] = i end
    while true do table.insert(t, 1, 0) end end }]])
  check.matches(assert(rules.judge(slow, {}, rules.stages, 0.2)).flags[1].reason, "rule%d+%.lua:4: it takes too long")
end)

check.test("no text of a candidate makes the rules about text slow", function()
  local strict = assert(rules.set "strict")
  local function asked(text)
    local got = assert(rules.judge(strict, { source = { text = text, code = text, plan = "" } }, { "source" }))
    return got.rejected or got.flags[1]
  end
  check.equal(asked(("ignore "):rep(250000)), nil)
  check.equal(asked(("/*"):rep(500000)), nil)
  check.equal(asked(("ignore "):rep(250000) .. "the instructions").rule, "judge_talk")
end)

check.test("what is wrong with a set is said, with its file", function()
  local function wrong(pattern, set, message)
    check.equal(set, nil)
    check.matches(message, pattern)
  end
  wrong("no such set %(did you mean 'strict'%?%)", rules.set "strikt")
  wrong("set%d+%.lua:1:", set_of("return {", "}{"))
  wrong("rule%d+%.lua:.*near <eof>", set_of "return {")
  wrong("'stage' must be one of source, compiled", set_of "return { stage = 'later', check = function() end }")
  wrong("has no option 'mots' %(did you mean 'most'", set_of(
    "return { stage = 'plan', options = { most = 1 }, check = function() end }", "{ mots = 1 }"))
  wrong("severity is reject, flag or off", set_of("return { stage = 'plan', check = function() end }",
    "{ severity = 'kill' }"))
  wrong("unknown is flag or reject", set_of("return { stage = 'plan', check = function() end }", "{ unknown = 'off' }"))
  local path = check.write(dir .. "/known.lua", "return { rules = { clock_raeds = true } }")
  wrong("known%.lua: there is no rule 'clock_raeds' %(did you mean 'clock_reads'", rules.set(path))
end)

check.test("every set and every rule that came along can be read", function()
  for _, file in ipairs(core.fs.list "configs") do
    local name = file:match "^rules%-(.*)%.lua$"
    if name then assert(rules.set(name)) end
  end
  local strict = {}
  for _, one in ipairs(assert(rules.set "strict").list) do strict[one.name] = true end
  for _, name in ipairs(rules.names()) do
    local text = assert(io.open(("lua/cawb/judge/rules/%s%s.lua"):format(name:find "^python_" and "python/" or "", name))):read "a"
    check.matches(text, "^%-%-%- ")
    local elsewhere = { [rules.of_the_task] = true, forbidden_words = true, library_calls = true, python_words = true }
    assert(strict[name] or elsewhere[name], name .. " is in no set")
  end
end)

check.test("times below what the device can do are rejected, near to it they are measured again", function()
  local floor = { seconds = 1e-5, memory = 1e-5, compute = 0, launch = 1e-6, precision = "float32" }
  local function at(time)
    return assert(rules.judge(assert(rules.set "strict"), { floor = floor, timing = { time_s = { median = time },
      samples = {} } }, { "plausibility" }))
  end
  check.matches(at(0.9e-5).rejected.reason, "9 us is faster than the device: 10 us are needed for memory")
  local near = at(1.1e-5)
  check.equal(near.rejected, nil)
  check.equal(near.flags[1].evidence.audit, true)
  check.equal(#at(1.2e-5).flags, 0)
end)

check.test("comments and strings are not code", function()
  local bare = rule_facts.bare('a = "pass // x"; // import threading\nb /* try\n{ */ = \'"\'; c')
  check.matches(bare, '^a = "";  \nb   = \'\'; c$')
end)

check.test("what steps read and write, and which of them have no effect", function()
  local use = function(r, w) return { reads = r, writes = w, atomics = 0, escapes = 0, maybe = 0 } end
  local census = { functions = { k = { entry = true, plain = "k", params = { use(0, 1), use(1, 0) } } } }
  local step = function(to, from) return { kernel = "k", args = { to, from } } end
  local plan = rule_facts.plan({ step("scratch[1]", "inputs[1]"), step("view(outputs[1])", "scratch[1]"),
    step("scratch[2]", "inputs[1]") }, census, 1)
  check.equal(core.json.encode { plan.steps[1].dead, plan.steps[2].dead, plan.steps[3].dead }, "[false,false,true]")
  plan = rule_facts.plan({ step("outputs[1]", "inputs[1]"),
    { kind = "gemm", beta = 0, reads = { "inputs[1]" }, writes = { "outputs[1]" } } }, census, 1)
  check.equal(plan.steps[1].dead, true)
  plan = rule_facts.plan({ step("outputs[1]", "inputs[1]"),
    { kind = "gemm", beta = 1, reads = { "inputs[1]", "outputs[1]" }, writes = { "outputs[1]" } } }, census, 1)
  check.equal(plan.steps[1].dead, false)
  check.equal(plan.libraries, 1)
  local product = { kind = "gemm", beta = 0, reads = { "inputs[1]", "scratch[1]" }, writes = { "outputs[1]" } }
  plan = rule_facts.plan({ product }, census, 1, { step("scratch[1]", "params.w"), step("scratch[2]", "params.w") })
  check.equal(core.json.encode { plan.prepared[1].dead, plan.prepared[2].dead }, "[false,true]")
  check.equal(core.json.encode { plan.launches, plan.launched.k }, "[0,2]")
end)

check.test("the precision is what the errors say", function()
  local task = { outputs = { { dtype = "float32" } } }
  local function class(nrms, eager, used)
    return precision.of(task, { error = { nrms = nrms, eager = { nrms = eager } }, steps = used },
      { total = {} }).class
  end
  check.equal(class(2e-7, 1e-7), "float32")
  check.equal(class(2.9e-4, 1e-7), "tf32")
  check.equal(class(2.9e-4, 1e-7, { { compute = "fp16" } }), "fp16")
  check.equal(class(2.3e-3, 1e-7), "bf16")
  check.equal(class(4e-2, 1e-7), "fp8")
  check.equal(class(2.9e-4, 2e-4), "float32")           -- PyTorch's own sum cancels as much
  check.equal(precision.coarser("bf16", "tf32"), true)
  check.equal(precision.coarser("fp16", "tf32"), false)
end)

check.test("a run's record says which rule rejected; unknown sets are the command line's mistake", function()
  local task = check.write(dir .. "/twice.py", [[
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.randn(4, 64)]
def get_init_inputs():
    return []
]])
  local strategy = check.write(dir .. "/once.lua", [[
local cawb = require "cawb"
return { turns = 1, measure = { against = {} }, step = function(run)
  run:evaluate(cawb.candidate { plan = 'launch("k", { grid = 1, block = 256 }, outputs[1], inputs[1])', source =
    'extern "C" __global__ void k(float *y, const float *x) { int i = threadIdx.x; if (clock() != 7) y[i] = 2 * x[i]; }' })
end }]])
  local command = ("'%s' %s %s --device sim:h100 --json --quiet --out %s/runs"):format(core.program, strategy, task, dir)
  local out, status = check.shell(command)
  check.equal(status, 1, out)
  local turn = assert(core.json.decode(out)).turns[1]
  check.equal(turn.rule, "clock_reads")
  check.equal(turn.stage, "compiled")
  check.matches(turn.rules.rejected.reason, "read a clock")
  out, status = check.shell(command .. " --set rules=off")
  local r = assert(core.json.decode(out))
  check.equal(r.turns[1].rules.set, "off")
  check.equal(r.turns[1].rule, nil)
  out, status = check.shell(command .. " --set rules=storict 2>&1")
  check.equal(status, 2, out)
  check.matches(out, "did you mean 'strict'")
end)

check.test("what a rule cannot tell, a mistake in a reward, and one without an end reach the screen", function()
  local function run(text, words)
    local strategy = check.write(dir .. "/shown.lua", 'local c = require "cawb.suite.redteam_kernels".candidate "relu"\n' .. text)
    return check.shell(("'%s' %s tests/judge/cheats/tasks/elementwise/relu.py --device sim:h100 --set turns=1 --set measure.launches=0 %s --out %s/shown 2>&1")
      :format(core.program, strategy, words or "", dir))
  end
  check.write(dir .. "/typo.lua", "return { stage = 'plan', check = function(facts)\n  return facts.plam.steps end }")
  local set = check.write(dir .. "/typos.lua", "return { rules = { ['typo.lua'] = true } }")
  local out, status = run("return { step = function(run) return run:evaluate(c) end }", "--set rules=" .. set .. " --baseline examples/softmax.py")
  check.equal(status, 0, out)
  check.matches(out, "unknown to rule 'typo': [^\n]*/typo%.lua:2: attempt to index a nil value %(field 'plam'%)")
  check.matches(out, "softmax%.py: not compared with: it is timed on a GPU only")
  -- The strategy goes on with nothing; what is told is what went wrong first.
  out, status = run([[return { reward = function(facts)
  return facts.time_s.medain * 2 end, step = function(run) return run:evaluate(c).ok end }]])
  check.equal(status > 1, true, out)
  check.matches(out, "shown%.lua:3: attempt to perform arithmetic on a nil value %(field 'medain'%)")
  out = run("return { reward = function()\n  while true do end end, step = function(run) return run:evaluate(c).ok end }",
    "--set deadlines.rule=0.2")
  check.matches(out, "shown%.lua:3: it takes too long, more than 0.2 s")
end)

check.test("facts of a failure stay a failure", function()
  local device <close> = assert(cawb.device "sim:h100")
  local all = options.copy(cawb.defaults)
  local task <close> = assert(cawb.task("tests/judge/cheats/tasks/elementwise/relu.py", { device = device, options = all }))
  local c = cawb.candidate { source = "x", plan = "launch('k', { grid = 1, block = 1 })" }
  local facts = assert(evaluate.candidate(task, c, all))
  check.equal(facts.ok, false)
  check.equal(facts.stage, "compile")
  check.equal(facts.rules, nil)
end)

check.test("bytes that were not moved: the device's counters, and where they say nothing", function()
  local set = { list = {} }
  for _, one in ipairs(assert(rules.set "strict").list) do
    if one.name == "untouched_bytes" then set.list[1] = one end
  end
  local function asked(counted, device, libraries)
    local r = assert(rules.judge(set, { costs = { read = 1000, written = 100 }, plan = { libraries = libraries or 0 },
      counted = { dram_bytes = counted, source = "cupti" }, device = device }, rules.stages))
    return r.rejected and r.rejected.reason
  end
  check.equal(asked(1100, { modelled = true, l2 = 50 }), nil)
  check.matches(asked(900, { modelled = true, l2 = 50 }), "it moved 900 bytes of memory; .* are 1100")
  check.equal(asked(960, { modelled = false, l2 = 50 }), nil)          -- 50 may still be in L2
  check.matches(asked(900, { modelled = false, l2 = 50 }), "are 1050")
  check.equal(asked(100, { modelled = false, l2 = 500 }), nil)         -- all of it may be
  check.equal(asked(100, { modelled = true, l2 = 50 }, 1), nil)
end)

check.test("a store through the address of a parameter is found by its name", function()
  local function use(reads, writes) return { reads = reads, writes = writes, atomics = 0, escapes = 0, maybe = 0 } end
  local census = { functions = { k = { entry = true, plain = "k", params = { use(0, 1), use(1, 1), use(0, 0) } } } }
  local plan = rule_facts.plan({ { kernel = "k", args = { "outputs[1]", "params.fc.weight", "inf" } } }, census, 1)
  check.equal(plan.steps[1].reads[1], "params.fc.weight")
  check.equal(plan.steps[1].writes[2], "params.fc.weight")
  local r = assert(rules.judge(assert(rules.set "strict"), { plan = plan }, { "plan" }))
  check.matches(r.rejected.reason, "step 1, k, has a store through the address of params%.fc%.weight")
end)

check.test("what one kernel leaves in memory another writes to; what nobody knows may be anything", function()
  local function use(reads, writes, maybe) return { reads = reads, writes = writes, atomics = 0, escapes = 0, maybe = maybe or 0 } end
  local fill = { entry = true, plain = "fill", params = { use(0, 1), use(0, 0) } }
  local through = { entry = true, plain = "through", params = { use(1, 0), use(1, 0) },
                    distant = { { ["function"] = "fill", param = 2, reads = 0, writes = 1, atomics = 0, escapes = 0, maybe = 0 } } }
  local last = { entry = true, plain = "last", params = { use(0, 1), use(1, 0), use(1, 0) } }
  local census = { functions = { fill = fill, through = through, last = last } }
  local function plan_of(pointed)
    return rule_facts.plan({ { kernel = "fill", args = { "scratch[1]", pointed } },
      { kernel = "through", args = { "scratch[1]", "inputs[1]" } },
      pointed == "inputs[1]" and { kernel = "last", args = { "outputs[1]", "scratch[1]", "inputs[1]" } } or nil }, census, 1)
  end
  local plan = plan_of "outputs[1]"
  check.equal(core.json.encode { plan.steps[1].dead, plan.steps[2].dead }, "[false,false]")
  check.equal(plan.steps[2].writes[1], "outputs[1]")
  local function rejected(facts) return assert(rules.judge(assert(rules.set "strict"), facts, { "plan" })) end
  check.equal(rejected({ plan = plan }).rejected, nil)
  check.matches(rejected({ plan = plan_of "inputs[1]" }).rejected.reason, "step 2, through, has a store through the address of inputs%[1%]")
  through.distant, through.unknown = nil, { stores = 1 }
  plan = plan_of "outputs[1]"
  check.equal(plan.steps[2].dead, false)
  local got = rejected({ plan = plan, device = {} })
  check.equal(got.rejected, nil)
  check.equal(got.flags[1].unknown, true)
  check.matches(got.flags[1].reason, "step 2, through, may have a store through the address of inputs%[1%]")
  for _, flag in ipairs(rejected({ plan = plan, device = { protects = true } }).flags) do assert(flag.rule ~= "may_write_inputs") end
end)

check.test("two runs that differ in a bit are flagged; others are repeatable", function()
  local device <close> = assert(cawb.device "sim:h100")
  local all = options.copy(cawb.defaults)
  all.measure.against = {}
  local task <close> = assert(cawb.task("tests/judge/cheats/tasks/elementwise/relu.py", { device = device, options = all }))
  local c = corpus.candidate "relu"
  local facts = assert(evaluate.candidate(task, c, all))
  assert(facts.ok, facts.reason)
  check.equal(facts.repeatable, true)
  check.equal(facts.counted, nil)
  facts = assert(evaluate.one(task, c, all, { count = true }))
  assert(facts.ok and facts.counted.dram_bytes > 0, facts.reason)
  -- A GPU's atomics may do this; the simulated device is the same every time.
  local marks, ask = 0, task.ask
  task.ask = function(self, request)
    if request.op ~= "mark" then return ask(self, request) end
    marks = marks + 1
    return { mark = tostring(marks) }
  end
  facts = assert(evaluate.candidate(task, c, all))
  check.equal(facts.ok, true, facts.reason)
  check.equal(facts.repeatable, false)
  local names = {}
  for _, flag in ipairs(facts.rules.flags) do names[flag.rule] = flag.reason end
  check.matches(names.unrepeatable, "two runs on the same inputs")
end)

check.test("facts hold no integer that JSON would round, and no infinity", function()
  local task = { name = "t", graph = { { op = "aten.x", flops = 1 << 57, bytes_read = 0, bytes_written = 1 } },
    inputs = {}, outputs = {}, params = {}, device = { info = { name = "sim:test", modelled = true } } }
  local told = rule_facts.new(task, cawb.candidate { source = "// none", plan = "-- none" },
    { error = { nrms = math.huge, eager = {} } }, { "plan" }, cawb.defaults)
  check.equal(math.type(told.task.graph[1].flops), "float")
  assert(core.json.encode(told))
end)

return check.done()
