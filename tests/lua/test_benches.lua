-- The benchmarks that need no GPU still run, on as little as they take: what they measure is
-- nobody's to assert, but a benchmark that nobody can repeat is none.

local check = dofile "tests/lua/check.lua"
local core = require "cawb.core"

local dir = check.folder()

-- What it printed, and its last line decoded where that is an object.
local function bench(words)
  local out, status = check.shell(("'%s' bench/%s 2>%s/err"):format(core.program, words, dir))
  check.equal(status, 0, assert(io.open(dir .. "/err")):read "a" .. out)
  return core.json.decode(out:match "([^\n]+)\n?$" or ""), out
end

check.test("mutants of numerics, and of kernels: all that changed something are caught", function()
  local r = bench "mutants.lua -- 4 sim:h100 3"
  check.equal(r.all.made, 4)
  r = bench "sim_mutants.lua 2 1 softmax"
  check.equal(r.caught, r.changed)
  check.equal(r.accused, 0)
end)

check.test("honest kernels", function()
  local r = bench "honest.lua -- 3 sim:h100 mixed"
  check.equal(r.verified, 3)
  check.equal(r.rejected, 0)
end)

check.test("the rest", function()
  for _, words in ipairs { "bounds.lua -- 2 1", "rescore.lua 200", "sim_speed.lua 64 1 1", "ask.lua 2 2",
                           "turn.lua sim:h100 1", "hostile.lua sim:h100 2 1" } do
    local _, out = bench(words)
    assert(#out > 0, words)
  end
end)

return check.done()
