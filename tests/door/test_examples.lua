-- Every example, on the simulated device; what the ladders climb is scaled to what a test can wait for.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"

local dir = check.folder()

-- Under sanitizers, which are slow, the rungs have little to do: too little to tell them apart.
local brief = os.getenv "CAWB_TEST_BRIEF"

-- What each script has to show, beside ending well.
local shows = {
  ["01_compile.lua"] = "scale: %d+ registers, 0 bytes spilled",
  ["02_run.lua"] = "softmax: %d+ blocks of %d+ threads\n.*reference",
  ["03_verify.lua"] = "wrong%s+outputs%[1%]: %d+ of %d+ elements were never written",
  ["04_measure.lua"] = "v5_registers .*against eager  %(modelled%)",
  ["05_profile.lua"] = "v1_thread_per_row %(simulator%): modelled: .*try ",
}

for _, name in ipairs(assert(core.fs.list "examples")) do
  if name:match "%.lua$" then
    check.test("the script " .. name .. " shows what it is for", function()
      local out, status = check.shell(("'%s' examples/%s sim:h100 2>&1"):format(core.program, name))
      check.equal(status, 0, out)
      check.matches(out, assert(shows[name], "say what it shows"))
      local _, lines = assert(io.open("examples/" .. name)):read "a":gsub("\n", "")
      assert(lines < 20, "it is longer than 20 lines")
    end)
  end
end

local function climb(task)
  local out, status = check.shell(("'%s' strategies/ladder.lua examples/%s --device sim:h100 --json --quiet "
    .. "--set sweep.variants=2 --set verify.battery_bytes=0 --set scale.memory=%d --out %s/runs"):format(core.program, task, brief and 300000 or 1000000, dir))
  check.equal(status, 0, task)
  return assert(core.json.decode(out))
end

for _, name in ipairs(assert(core.fs.list "examples")) do
  if name:match "%.py$" then
    check.test("the ladder climbs " .. name .. ": its last rung is modelled 1.2x faster than its first", function()
      local r = climb(name)
      for _, turn in ipairs(r.turns) do assert(turn.ok, turn.reason) end
      local first, last = r.turns[1], r.turns[#r.turns]
      local gain = first.time_s.median / last.time_s.median
      assert(gain >= 1.2 or brief, ("%s: %.2fx only"):format(name, gain))
      print(("     %s: %.1fx over %d rungs"):format(name, gain, #r.turns))
    end)
  end
end

for _, name in ipairs(assert(core.fs.list "examples/operators")) do
  check.test("the operator " .. name .. " is lowered whole, and right", function()
    local out, status = check.shell(("'%s' examples/operators/%s --device sim:h100 --json --quiet --set turns=1 "
      .. "--set scale.memory=%d --set scale.operations=20000000 --out %s/runs"):format(core.program, name, brief and 300000 or 1000000, dir))
    check.equal(status, 0, out)
    local r = assert(core.json.decode(out))
    assert(#r.turns == 1 and r.turns[1].ok and r.turns[1].name == "compose", r.turns[1].reason)
  end)
end

return check.done()
