-- Decisions of a task: compose's own schedule is the first value of each, and programs are right whatever they choose.

local composed = dofile "tests/support/composed.lua"
local check = composed.check
local compose = require "cawb.compose"
local decisions = require "cawb.compose.decisions"
local schedule = require "cawb.compose.schedule.schedule"

math.randomseed(math.tointeger(tonumber(os.getenv "CAWB_TEST_SEED" or 11)))

local norm = { "return F.layer_norm(torch.relu(x) * 2 + y, (96,)).sum(0)", "[torch.rand(37, 96), torch.rand(96)]" }

local function make(s)
  local task <close> = assert(composed.task(norm[1], norm[2]))
  return compose.make(task, { arch = "sm_90a", schedule = s })
end

-- The schedule of a program, of which choose(decision) takes the values.
local function schedule_of(list, choose)
  local s = {}
  for _, decision in ipairs(list) do
    local value = choose(decision)
    if decision.kind == "knob" then
      if value ~= "auto" then s = schedule.apply(s, { kernel = decision.kernel, name = decision.name, value = value }) end
    elseif value == decision.values[2] then
      if decision.kind ~= "store" then s = schedule.apply(s, { [decision.kind] = decision.what })
      else s.stores = { decision.what, table.unpack(s.stores or {}) } end
    end
  end
  return s
end

check.test("the first value of each decision is compose's own, byte for byte; the others are options of compose", function()
  local made = assert(make())
  local list = decisions.of(made)
  assert(#list >= 6, #list)
  local again = assert(make(schedule_of(list, function(decision) return decision.values[1] end)))
  check.equal(again.source, made.source)
  check.equal(again.plan, made.plan)
  assert(schedule.check(schedule_of(list, function(decision) return decision.values[#decision.values] end)))
end)

check.test("programs are right", function()
  local list = decisions.of(assert(make()))
  for _ = 1, os.getenv "CAWB_TEST_BRIEF" and 1 or 4 do
    local s = schedule_of(list, function(decision) return decision.values[math.random(#decision.values)] end)
    local ok, why = pcall(composed.right, norm[1], norm[2], nil, { arch = "sm_90a", schedule = s }, { "mixed" })
    assert(ok, schedule.text(s) .. ": " .. tostring(why):match "[^\n]*")
  end
end)

check.test("a node that is stored takes a kernel of its own, where fusions are cut", function()
  local made = assert(make())
  local s = schedule_of(decisions.of(made), function(decision) return (decision.kind == "store" or decision.kind == "cut") and decision.values[2] or decision.values[1] end)
  assert(s.stores and #s.stores > 0)
  local other = assert(make(s))
  assert(#other.kernels > #made.kernels, #other.kernels)
  check.equal(schedule.text(assert(schedule.parse(schedule.text(s)))), schedule.text(s))
end)

return check.done()
