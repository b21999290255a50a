-- The benchmarks that need no GPU still run, on as little as they take: what they measure is
-- nobody's to assert, but a benchmark that nobody can repeat is none.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"

local dir = check.folder()

-- What it printed, and its last line decoded where that is an object.
local function bench(words)
  local out, status = check.shell(("'%s' bench/%s 2>%s/err"):format(core.program, words, dir))
  check.equal(status, 0, assert(io.open(dir .. "/err")):read "a" .. out)
  return core.json.decode(out:match "([^\n]+)\n?$" or ""), out
end

check.test("mutants of numerics: all are caught", function()
  local r = bench "judge/mutants.lua -- 3 sim:h100 3 hand"
  check.equal(r.all.strict, 3)
end)

-- A journal: what was begun goes on, and several runs are counted together. One of twelve may be a mutant that needs
-- an explanation, which is nothing that a change elsewhere should stumble over.
check.test("mutants of the grammar, of which a run that goes on makes no second ones", function()
  local book = dir .. "/mutants.jsonl"
  local first = bench(("judge/mutants.lua -- 5 sim:h100 3 grammar %s"):format(book))
  local r = bench(("judge/mutants.lua -- 12 sim:h100 3 grammar %s"):format(book))
  local all = bench(("judge/mutants.lua -- 0 sim:h100 all grammar %s"):format(book))
  check.equal(r.all.made + r.all.same + r.all.explained, 12)
  assert(r.all.strict >= r.all.made - 1, core.json.encode(r.missed))
  assert(first.all.made < r.all.made, "the second run goes on")
  check.equal(core.json.encode(all.tally), core.json.encode(r.tally))
end)

check.test("verdicts: measurements that several runs kept are counted together, by kind of machine", function()
  local one, other = dir .. "/idle0102a.jsonl", dir .. "/loaded0102b.jsonl"
  bench(("judge/verdicts.lua -- sim:h100 2 --journal %s && '%s' bench/judge/verdicts.lua -- sim:h100 1 --journal %s"):format(one,
    core.program, other))
  local _, out = bench(("judge/verdicts.lua -- --table %s %s"):format(one, other))
  check.matches(out, "idle, a kernel against itself, modelled +2 +0 +0 +2 +0 +1%.0000")
  check.matches(out, "loaded, a kernel against itself, modelled +1 +0 +0 +1 +0 ")
end)

check.test("honest kernels", function()
  local r = bench "judge/honest.lua -- 3 sim:h100 mixed"
  check.equal(r.verified, 3)
  check.equal(r.rejected, 0)
  r = bench "judge/variants.lua -- 8 sim:h100 3"
  check.equal(r.rejected, 0)
end)

check.test("random graphs of operators, of which a run that goes on makes no second ones", function()
  local book = dir .. "/graphs.jsonl"
  check.equal(bench(("compose/compose_fuzz.lua -- 11 1 %s abc"):format(book)).graphs, 1)
  local r = bench(("compose/compose_fuzz.lua -- 10 2 %s abc"):format(book))
  check.equal(r.graphs, 2)
  check.equal(r.commits.abc, 2)
  check.equal(r.tally.failed, 0)
  r = bench(("compose/compose_fuzz.lua -- 12 4 %s/products.jsonl abc products"):format(dir))      -- of which one has a product
  check.equal(r.graphs, 1)
end)

check.test("the rest", function()
  for _, words in ipairs { "sim/sim_speed.lua 64 1 1", "run/turn.lua sim:h100 1", "judge/hostile.lua sim:h100 2 1" } do
    local _, out = bench(words)
    assert(#out > 0, words)
  end
end)

return check.done()
