-- The short form: a candidate in one message; what is left out is put back, and a message that is none is told why.

local candidates = require "cawb.judge.task.candidate"
local check = dofile "tests/support/check.lua"
local compose = require "cawb.compose"
local prompt = require "cawb.agent.prompt"
local short = require "cawb.agent.short"
local cawb = require "cawb"

local function message(source, plan) return ("```cuda\n%s\n```\n```lua\n%s\n```"):format(source, plan) end

local kernel = 'extern "C" __global__ void k(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; }'
local launch = 'launch("k", { grid = { 1 }, block = { 32 } }, inputs[1], outputs[1])'

check.test("a message has its two blocks", function()
  local found = assert(short.parse(message(kernel, launch)))
  check.equal(found.source, kernel .. "\n")
  check.equal(found.plan, launch .. "\n")
  check.equal(assert(short.parse("Sure!\n" .. message(kernel, launch) .. "\nDone.")).plan, launch .. "\n", "words around them")
end)

check.test("of two blocks of a kind the last counts", function()
  check.equal(assert(short.parse(message("old", launch) .. "\n" .. message(kernel, launch))).source, kernel .. "\n")
end)

check.test("a message that is none is told what is missing", function()
  for text, why in pairs {
    [""] = "```cuda", ["I cannot."] = "```cuda", [kernel] = "```cuda",
    ["```cuda\n" .. kernel .. "\n```"] = "```lua", ["```lua\n" .. launch .. "\n```"] = "```cuda",
    ["```cuda\n" .. kernel .. "\n```\n```lua\n" .. launch] = "not closed", ["```cuda\n" .. kernel] = "not closed",
    [message("", launch)] = "```cuda block is empty", [message(kernel, " \n\t")] = "```lua block is empty",
    ["```\n" .. kernel .. "\n```\n```\n" .. launch .. "\n```"] = "```cuda",
    ["```cuda\n```cuda\n```cuda\n" .. kernel] = "not closed",
  } do
    local found, said = short.parse(text)
    check.equal(found, nil, text)
    check.matches(said, why, text)
  end
end)

check.test("a message that repeats itself without end is not read", function()
  local found, said = short.parse(message(("x = x + 1;\n"):rep(10000), launch))
  check.equal(found, nil)
  check.matches(said, "at most 65536")
end)

local function has(text, word) return text:find(word, 1, true) ~= nil end

check.test("helpers that a source uses are put in front, with those that they use, and no other", function()
  local source = short.whole_source "void f() { pack<float, 4> p; }\n"
  check.equal(has(source, "struct alignas(sizeof(T) * N) pack"), true)
  check.equal(has(source, "join_rows"), false)
  source = short.whole_source "float f(float v) { return join_cluster<2, 64>(v, add); }\n"
  check.equal(has(source, "V from_lane(V v, int d)"), true, "join_cluster needs join")
  check.equal(source:find("from_lane(V v", 1, true) < source:find("V join_cluster", 1, true), true)
  check.equal(short.whole_source(kernel), kernel)
end)

check.test("a helper's macro comes along, and for a source that uses it alone", function()
  for _, text in ipairs { "float f(float v) { return join_rows<32, 64>(v, add); }\n", "void f() { UNROLL for (int j = 0; j < 4; j++) g(j); }\n" } do
    local source = short.whole_source(text)
    check.equal(has(source, "#define UNROLL"), true, text)
    check.equal(has(source, "struct alignas"), false, text)
  end
  local own = "template <class T, int N> struct pack { T at[N]; };\nfloat f(float v) { return join_rows<32, 64>(v, add); }\n"
  check.equal(has(short.whole_source(own), "#define UNROLL"), true, "beside a pack of its own")
end)

check.test("a source's own definition stands, and headers stay first", function()
  local own = "template <class T, int N> struct pack { T at[N]; };\npack<float, 2> p;\n"
  check.equal(short.whole_source(own), own)
  local source = short.whole_source "#include <cuda_fp16.h>\npack<__half, 2> p;\n"
  check.equal(source:match "^[^\n]*", "#include <cuda_fp16.h>")
end)

local device <close> = cawb.device "sim:h100"
local task <close> = assert(cawb.task("examples/softmax.py", { device = device, task = { rows = 32, cols = 512 } }))

check.test("a plan gets what it expects of the task's tensors", function()
  local plan = short.whole_plan("place[1] = scratch(4)\n" .. launch, task)
  check.matches(plan, 'expect%(inputs%[1%], "float32", { 32, 512 }, { 512, 1 }%)')
  check.matches(plan, "local place = {}")
  check.equal(short.whole_plan(plan, task), plan, "it says so itself")
end)

check.test("what compose writes is shorter in the short form, and right when it is put back", function()
  local made = assert(compose.make(task, { arch = device.info.arch, memory = device.info.memory }))
  local text = short.write(made.source, made.plan)
  check.equal(#text < 0.7 * (#made.source + #made.plan), true)
  for _, word in ipairs { "//", "--", "expect", "V join_rows(V v", "struct", "__global__", "__restrict__", "k1_" } do check.equal(has(text, word), false, word) end
  local back = short.whole(assert(short.parse(text)), task, "back")
  check.equal(candidates.is(back), true)
  local facts = assert(cawb.judge(task, back, { confirm = false }))
  check.equal(facts.ok, true, facts.reason)
end)

check.test("the prompt has the task's text and its tensors", function()
  local text = prompt.task("class Model: pass\n", task)
  check.matches(text, "class Model: pass")
  check.matches(text, "inputs%[1%]: float32, shape {32, 512}")
end)

return check.done()
