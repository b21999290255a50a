-- The corpus of kernels on the simulated device against what a GPU left (bench/sim/corpus/h100.json):
-- bit for bit, but for approximate functions and products of matrices, whose kernels say how far
-- they may be off. And on four threads it is what it is on one, counts and modelled times included.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local corpus = dofile "bench/sim/corpus/corpus.lua"

local file <close> = assert(io.open "bench/sim/corpus/h100.json")
local recorded = core.json.decode(file:read "a")
local kernels = corpus.kernels()

check.test("every kernel was recorded, and none but these", function()
  local known = {}
  for _, k in ipairs(kernels) do
    check.equal(recorded.kernels[k.name] ~= nil, k.recorded, k.name .. ": recorded")
    assert(not known[k.name], k.name .. ": two kernels of this name")
    known[k.name] = true
  end
  for name in pairs(recorded.kernels) do assert(known[name], name .. ": recorded, but no kernel") end
  assert(#kernels >= 120, #kernels .. " kernels")
end)

check.test("a difference is one", function()
  local exact, near = { words = 2 }, { words = 2, float = 1e-3 }
  local a, b = string.pack("<ff", 1, 2), string.pack("<ff", 1, 2.0001)
  check.equal(corpus.same(exact, a, corpus.digest(exact, a)), nil)
  check.matches(corpus.same(exact, b, corpus.digest(exact, a)), "the words differ")
  check.equal(corpus.same(near, b, corpus.digest(near, a)), nil)
  check.matches(corpus.same(near, string.pack("<ff", 1, 2.01), corpus.digest(near, a)), "value 1 is 2.00999999")
  check.matches(corpus.same(near, string.pack("<ff", 1, 0 / 0), corpus.digest(near, a)), "value 1 is %-?nan")
end)

local function open(threads)
  local simulate = { memory = cawb.defaults.simulate.memory, blocks = 0, sanitize = true, threads = threads }
  return assert(cawb.device("sim:h100", { simulate = simulate }))
end

local device <close> = open(1)
local four <close> = open(4)
for _, k in ipairs(kernels) do
  local what = k.recorded and "leaves what the %s left" or "ends, though no %s has executed it yet"
  check.test(k.name .. " " .. what:format(recorded.device), function()
    local bytes, report = corpus.execute(device, k)
    assert(bytes, report)
    local why = k.recorded and corpus.same(k, bytes, recorded.kernels[k.name])
    assert(not why, why)
    check.equal(report.races or 0, 0, report.race)
    local same, counted = corpus.execute(four, k)
    assert(same == bytes, "other values on four threads")
    check.equal(core.json.encode(counted), core.json.encode(report))
  end)
end
return check.done()
