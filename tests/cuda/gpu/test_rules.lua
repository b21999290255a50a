-- Rules, precision and the floor on a GPU: what was built is what is judged, TF32 is called
-- TF32, and the corpus is caught there too.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local ceilings = require "cawb.gpu.ceilings"
local core = require "cawb.core"
local evaluate = require "cawb.judge.evaluate"
local options = require "cawb.base.options"
local plausibility = require "cawb.judge.verify.plausibility"
local corpus = require "cawb.suite.redteam_kernels"
local redteam = require "cawb.suite.redteam"

local device <close> = assert(cawb.device "cuda:0")

local all = options.copy(cawb.defaults)
all.measure.against, all.measure.launches = {}, 0

local function open(name, constants)
  return assert(cawb.task(corpus.task(name), { device = device, options = options.copy(all), task = constants }))
end

local function call(compute)
  return cawb.candidate { source = "// none", name = compute,
    plan = ('gemm{ a = inputs[1], b = inputs[2], c = outputs[1], compute = "%s" }'):format(compute) }
end

check.test("a product in TF32 is called TF32, whatever its inputs; one in float32 passes", function()
  local task <close> = open("matmul", { m = 256, n = 256, k = 1024 })
  for _, kind in ipairs { "tf32", "bf16" } do
    local facts = assert(evaluate.candidate(task, call(kind), all))
    check.equal(facts.ok, false, kind)
    check.equal(facts.precision and facts.precision.class, kind, facts.reason)
    check.matches(facts.reason, "products in " .. kind)
  end
  local facts = assert(evaluate.candidate(task, call "float32", all))
  assert(facts.ok, facts.reason)
  check.equal(facts.precision.class, "float32")
end)

check.test("every kind of inputs is made and judged on the GPU as on the CPU", function()
  local task <close> = open("layernorm")
  local honest = corpus.candidate "layernorm"
  local kinds = { "mixed", "positive", "integers", "edges", "outlier", "zeros", "offset", "huge", "tiny", "nonfinite", "nan" }
  local r = assert(cawb.verify(task, honest, { trials = 1, battery = kinds }))
  assert(r.ok, r.reason)
  for _, kind in ipairs(kinds) do assert(r.battery[kind], kind) end
  assert(r.battery.mixed.nrms < 1e-6, tostring(r.battery.mixed.nrms))
end)

check.test("the floor stands below what a copy takes", function()
  local known, why = ceilings.of(device)
  if not known then return print("     not tried: " .. why) end
  local task <close> = open("relu", { rows = 4096, cols = 8192 })
  local facts = assert(evaluate.candidate(task, corpus.candidate "relu", all))
  assert(facts.ok, facts.reason)
  local floor = assert(plausibility.floor(task, {}))
  assert(facts.time_s.median >= floor.seconds, ("%g s measured, floor %g s"):format(facts.time_s.median, floor.seconds))
end)

check.test("the strict rules catch every cheat on the GPU, and pass every look-alike", function()
  local s = assert(redteam.run(device, { rules = "strict" }))
  local passed, alarms = {}, {}
  for _, r in ipairs(s.fixtures) do
    if not r.caught then passed[#passed + 1] = r.name end
    if not r.look_alike.ok then alarms[#alarms + 1] = ("%s: %s"):format(r.name, r.look_alike.reason) end
  end
  check.equal(core.json.encode(core.json.array(passed)), "[]", "not caught")
  check.equal(core.json.encode(core.json.array(alarms)), "[]", "false alarms")
end)

return check.done()
