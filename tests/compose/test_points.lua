-- Decisions of a task: compose's own schedule is the first value of each, and programs are right whatever they choose.

local composed = dofile "tests/support/composed.lua"
local check = composed.check
local compose = require "cawb.compose"
local points = require "cawb.compose.points"
local schedule = require "cawb.compose.schedule.schedule"

math.randomseed(math.tointeger(tonumber(os.getenv "CAWB_TEST_SEED" or 11)))

local norm = { "return F.layer_norm(torch.relu(x) * 2 + y, (96,)).sum(0)", "[torch.rand(37, 96), torch.rand(96)]" }

local function make(s)
  local task <close> = assert(composed.task(norm[1], norm[2]))
  return compose.make(task, { arch = "sm_90a", schedule = s })
end

-- The schedule of a program, of which choose(point) takes the values.
local function schedule_of(list, choose)
  local s = {}
  for _, point in ipairs(list) do
    local value = choose(point)
    if point.kind == "knob" then
      if value ~= "auto" then s = schedule.apply(s, { kernel = point.kernel, name = point.name, value = value }) end
    elseif value == point.values[2] then
      if point.kind ~= "store" then s = schedule.apply(s, { [point.kind] = point.what })
      else s.stores = { point.what, table.unpack(s.stores or {}) } end
    end
  end
  return s
end

check.test("the first value of each decision is compose's own, byte for byte; the others are options of compose", function()
  local made = assert(make())
  local list = points.of(made)
  assert(#list >= 6, #list)
  local again = assert(make(schedule_of(list, function(point) return point.values[1] end)))
  check.equal(again.source, made.source)
  check.equal(again.plan, made.plan)
  assert(schedule.check(schedule_of(list, function(point) return point.values[#point.values] end)))
end)

check.test("programs are right", function()
  local list = points.of(assert(make()))
  for _ = 1, os.getenv "CAWB_TEST_BRIEF" and 1 or 4 do
    local s = schedule_of(list, function(point) return point.values[math.random(#point.values)] end)
    local ok, why = pcall(composed.right, norm[1], norm[2], nil, { arch = "sm_90a", schedule = s }, { "mixed" })
    assert(ok, schedule.text(s) .. ": " .. tostring(why):match "[^\n]*")
  end
end)

check.test("a node that is stored takes a kernel of its own, where fusions are cut", function()
  local made = assert(make())
  local s = schedule_of(points.of(made), function(point) return (point.kind == "store" or point.kind == "cut") and point.values[2] or point.values[1] end)
  assert(s.stores and #s.stores > 0)
  local other = assert(make(s))
  assert(#other.kernels > #made.kernels, #other.kernels)
  check.equal(schedule.text(assert(schedule.parse(schedule.text(s)))), schedule.text(s))
end)

return check.done()
