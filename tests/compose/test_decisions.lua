-- Decisions of a task: compose's own schedule is the first value of each, sound programs are right whatever they choose, and in the
-- free language a program can be wrong or refused.

local composed = dofile "tests/support/composed.lua"
local check = composed.check
local compose = require "cawb.compose"
local decisions = require "cawb.compose.decisions"
local schedule = require "cawb.compose.schedule.schedule"
local cawb = require "cawb"

math.randomseed(math.tointeger(tonumber(os.getenv "CAWB_TEST_SEED" or 11)))

local norm = { "return F.layer_norm(torch.relu(x) * 2 + y, (96,)).sum(0)", "[torch.rand(37, 96), torch.rand(96)]" }
local odd = { "return torch.tanh(x) * 2", "[torch.rand(7, 143)]" }             -- 1001 elements: no power of two divides them
local long = { "return torch.softmax(x, -1)", "[torch.randn(3, 4096)]" }       -- lanes of several warps join

local function make(t, s)
  local task <close> = assert(composed.task(t[1], t[2]))
  return compose.make(task, { arch = "sm_90a", schedule = s })
end

local function firsts(list)
  local chosen = {}
  for k, decision in ipairs(list) do chosen[k] = decision.values[1] end
  return chosen
end

local function random(list)
  local chosen = {}
  for k, decision in ipairs(list) do chosen[k] = decision.values[math.random(#decision.values)] end
  return chosen
end

local function first_of(made, kind)
  for _, kernel in ipairs(made.kernels) do if kernel.by == kind then return schedule.key(kernel) end end
end

check.test("the first value of each decision is compose's own, byte for byte", function()
  local made = assert(make(norm))
  for _, free in ipairs { false, true } do
    local list = decisions.of(made, free)
    assert(#list >= 6, #list)
    local again = assert(make(norm, decisions.schedule(list, firsts(list), free)))
    check.equal(again.source, made.source)
    check.equal(again.plan, made.plan)
  end
end)

check.test("sound programs are right", function()
  local list = decisions.of(assert(make(norm)))
  for _ = 1, os.getenv "CAWB_TEST_BRIEF" and 1 or 4 do
    local s = decisions.schedule(list, random(list))
    local ok, why = pcall(composed.right, norm[1], norm[2], nil, { arch = "sm_90a", schedule = s }, { "mixed" })
    assert(ok, schedule.text(s) .. ": " .. tostring(why):match "[^\n]*")
  end
end)

check.test("a node that is stored takes a kernel of its own, where fusions are cut", function()
  local made = assert(make(norm))
  local list, chosen = decisions.of(made), {}
  for k, decision in ipairs(list) do chosen[k] = (decision.kind == "store" or decision.kind == "cut") and decision.values[2] or decision.values[1] end
  local s = decisions.schedule(list, chosen)
  assert(s.stores and #s.stores > 0)
  local other = assert(make(norm, s))
  assert(#other.kernels > #made.kernels, #other.kernels)
  check.equal(schedule.text(assert(schedule.parse(schedule.text(s)))), schedule.text(s))
end)

check.test("strict: what does not go is refused, and said", function()
  local made = assert(make(odd))
  local key = assert(first_of(made, "stream"))
  local function refused(option, value, says)
    local s = { kernels = { [key] = { [option] = value } } }
    assert(make(odd, s), "without strict it is made as it can be")
    s.strict = true
    local nothing, why = make(odd, s)
    check.equal(nothing, nil)
    check.matches(why, says)
  end
  refused("vector", 4, "vector = 4 does not divide 1001 elements")
  refused("vector", 3, "vector = 3 is no value of it")
  refused("lanes", 64, "a kernel made by 'stream' has no option lanes")
  refused("loop", "tensor", "loop = tensor does not go here")
  check.equal(schedule.check { strict = 1 }, nil)
end)

local function verdict(t, s)
  local task <close> = assert(composed.task(t[1], t[2]))
  local made = assert(compose.make(task, { arch = "sm_90a", schedule = s }))
  local c = cawb.candidate { source = made.source, plan = made.plan, options = made.options }
  return assert(cawb.verify(task, c, { trials = 1, repeats = 0, battery = { "mixed" } })), made
end

check.test("without a guard that it needs, a kernel is wrong", function()
  local made = assert(make(odd))
  local r = verdict(odd, { kernels = { [first_of(made, "stream")] = { guards = false } } })
  check.equal(r.ok, false)
end)

check.test("without barriers that it needs, a kernel is wrong", function()
  local key = first_of(assert(make(long)), "rows")
  local r, made = verdict(long, { kernels = { [key] = { barriers = false, hold = false } } })
  assert(made.source:find("unsynced::join_rows", 1, true), made.source)
  check.equal(r.ok, false)
  assert(r.stage ~= "compile", r.reason)
  check.equal(verdict(long, { kernels = { [key] = { barriers = true, hold = false } } }).ok, true)
end)

check.test("a value that its decision does not have cannot be read", function()
  local list = decisions.of(assert(make(odd)), true)
  local chosen = firsts(list)
  chosen[1] = "simt"
  local nothing, why = decisions.schedule(list, chosen, true)
  check.equal(nothing, nil)
  check.matches(why, "decision 1 %(vector%) has no value simt")
end)

check.test("the free language has every value of a name", function()
  check.equal(#decisions.domain "guards", 2)
  check.equal(decisions.domain("loop")[1], "auto")
  check.equal(#decisions.domain "loop", 6)
end)

return check.done()
