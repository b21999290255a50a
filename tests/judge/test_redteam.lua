-- The corpus of tier 1 on the simulated device: the strict rules catch every cheat where it
-- says, and no look-alike.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local redteam = require "cawb.suite.redteam"

local device <close> = assert(cawb.device "sim:h100")

check.test("fixtures say what they are and what they do", function()
  local list = assert(redteam.fixtures(redteam.folder() .. "/tier1"))
  assert(#list >= 40, #list .. " fixtures")
  for _, f in ipairs(list) do
    assert(redteam.families[f.family], f.name .. ": family " .. f.family)
    assert(math.type(f.entry) == "integer" and f.entry >= 1 and f.entry <= 92, f.name .. ": entry")
    assert(#f.what > 0 and #f.look_alike.says > 0, f.name .. ": say what the cheat and its look-alike do")
    for _, c in ipairs { f.cheat, f.look_alike } do assert(c.source and c.plan, f.name .. ": texts") end
  end
end)

check.test("what is wrong with a fixture is said with its file and its name", function()
  local folder = check.folder()
  local function refused(fixture, why)
    local path = check.write(folder .. "/family.lua", ("return { task = 'relu', %s }"):format(fixture))
    local list, message = redteam.fixtures(folder)
    check.equal(list, nil)
    check.equal(message:sub(1, #path), path)
    check.matches(message, why)
  end
  local sound = "name = 'a01_one', what = 'cheats', says = 'does not', look_alike = {}, "
  refused("{ name = 'a01_one', look_alike = {}, cheat = {} }", "a01_one: a fixture has 'what', a string")
  refused("{ what = 'cheats' }", "fixture 1: a fixture has 'name', a string")
  refused("{ " .. sound .. "}", "a01_one: a fixture has 'cheat', a table")
  refused("{ " .. sound .. "cheat = {}, cuaght = {} }", "a01_one: a fixture has no 'cuaght' %(did you mean 'caught'%?%)")
  refused("{ " .. sound .. "cheat = { sauce = '' } }", "a01_one: a fixture has no 'sauce'.* in 'cheat'")
  refused("{ " .. sound .. "cheat = { source = { 'nowhere', '' } } }", "a01_one: the text to replace is not there: nowhere")
  refused("{ " .. sound .. "cheat = {}, task = 'rely' }", "a01_one: tests/judge/cheats/tasks has no task 'rely'")
  refused("{ " .. sound .. "cheat = {} }, { " .. sound .. "cheat = {} }", "a01_one: a fixture has a name of its own")
  refused("{ " .. sound .. "cheat = {} }, nothing.there", "family.lua:1: attempt to index")
end)

check.test("the strict rules catch every cheat, where its fixture says, and pass every look-alike", function()
  local s = assert(redteam.run(device, { rules = "strict" }))
  for _, r in ipairs(s.fixtures) do
    local name = ("%s (--seed %s)"):format(r.name, s.seed)
    assert(r.caught, name .. " passed")
    check.equal(r.stage, r.expected.stage, ("%s: stage (%s)"):format(name, r.reason))
    check.equal(r.rule, r.expected.rule, name .. ": rule")
    assert(r.look_alike.ok, ("%s: its look-alike was rejected: %s"):format(name, tostring(r.look_alike.reason)))
  end
  check.equal(s.catch_rate, 1, "catch rate")
end)

check.test("what allclose at 1e-2 lets through, and what no rule at all", function()
  local paper = assert(redteam.run(device, { rules = "paper", only = "^a0[57]" }))
  local passed = {}
  for _, r in ipairs(paper.fixtures) do passed[r.name] = not r.caught end
  assert(passed.a07_last_term and passed.a05_zeros and passed.a05_uniform, core.json.encode(passed))
  local off = assert(redteam.run(device, { rules = "off", only = "^d4" }))
  for _, r in ipairs(off.fixtures) do assert(not r.caught, r.name .. ": " .. tostring(r.reason)) end
end)

check.test("a seed repeats a verdict to the last digit, whichever other fixtures are judged", function()
  local function numbers(seed, only)
    local s = assert(redteam.run(device, { rules = "strict", only = only, seed = seed }))
    check.equal(s.seed, seed)
    for _, r in ipairs(s.fixtures) do if r.name == "a07_last_term" then return r.reason end end
  end
  local first = numbers("2a", "^a07_last_term$")
  check.matches(first, "the error %d")
  check.equal(numbers("2a", "^a07_"), first)
  assert(numbers("2b", "^a07_last_term$") ~= first, "another seed, the same error")
end)

check.test("the command: JSON, exit codes, and what is wrong with its words", function()
  local run = function(words) return check.shell(("'%s' redteam %s 2>&1"):format(core.program, words)) end
  local out, status = run "--only a07_last --json"
  check.equal(status, 0, out)
  local s = assert(core.json.decode(out))
  check.equal(s.fixtures[1].name, "a07_last_term")
  check.equal(s.families.A.caught, 1)
  out, status = run "--only a07_last --rules off --rules paper"
  check.equal(status, 1)
  check.matches(out, "a07_last_term%s+PASSED")
  check.matches(out, "cheats caught, by rules%s+off%s+paper")
  check.matches(out, "\nseed %x+\n$")
  out, status = run "--seed 2/3"
  check.equal(status, 2)
  check.matches(out, "use letters and digits")
  out, status = run "--rules strickt"
  check.equal(status, 2)
  check.matches(out, "did you mean 'strict'")
  out, status = run "--only nothing_like_it"
  check.equal(status, 2)
  check.matches(out, "no fixture")
end)

return check.done()
