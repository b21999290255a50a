-- Schedules: data that say how a graph is lowered. Any of them computes the same function; they survive as text.

local composed = dofile "tests/support/composed.lua"
local check = composed.check
local compose = require "cawb.compose"
local schedule = require "cawb.compose.schedule.schedule"

local seed = math.tointeger(tonumber(os.getenv "CAWB_TEST_SEED" or 7))
math.randomseed(seed)

local tasks = {
  { "return F.layer_norm(torch.relu(self.c(x)) + y, (48,)).sum(0)", "[torch.rand(20, 64), torch.rand(48)]", "self.c = nn.Linear(64, 48)" },
  { "return torch.softmax(x * y, -1).mean(0)", "[torch.randn(37, 96), torch.randn(96)]" },
  { "return F.max_pool2d(torch.tanh(self.c(x)), 2) * 2", "[torch.rand(2, 8, 18, 18)]", "self.c = nn.Conv2d(8, 16, 3, bias=False)" },
  { "return torch.cumsum(x, 1) / (1 + y.sum(0))", "[torch.rand(6, 300), torch.rand(50, 300)]" },
  { "return torch.sigmoid(x @ y - x.mean()), x.max(1)[0]", "[torch.randn(40, 33), torch.randn(33, 24)]" },
  { "return (self.c(x) * 2 - y).mean(1) + x.sum(1)", "[torch.rand(30, 19), torch.rand(27)]", "self.c = nn.Linear(19, 27)" },
}

-- A walk of some edits from what compose takes by itself; steps that no kernel can be made by are told by raising.
local function walk(task, steps)
  local s = schedule.default()
  for _ = 1, steps do
    local made = assert(compose.make(task, { arch = "sm_90a", schedule = s }))
    local legal = schedule.legal(made)
    s = schedule.apply(s, legal[math.random(#legal)])
  end
  return s
end

local rounds = os.getenv "CAWB_TEST_BRIEF" and 1 or tonumber(os.getenv "CAWB_TEST_ROUNDS" or 3)

for k, t in ipairs(tasks) do
  check.test("whatever the schedule, it is right: " .. t[1], function()
    for _ = 1, rounds do
      local s
      do
        local task <close> = assert(composed.task(t[1], t[2], t[3]))
        s = walk(task, math.random(1, 5))
      end
      local ok, why = pcall(composed.right, t[1], t[2], t[3], { arch = "sm_90a", schedule = s }, { "mixed" })
      assert(ok, ("task %d, schedule %s (seed %d): %s"):format(k, schedule.text(s), seed, tostring(why):match "[^\n]*"))
    end
  end)
end

check.test("the same schedule gives the same texts; other ones differ", function()
  local t = tasks[1]
  local task <close> = assert(composed.task(t[1], t[2], t[3]))
  local made = assert(compose.make(task, {}))
  local again = assert(compose.make(task, { schedule = schedule.default() }))
  check.equal(again.source, made.source)
  check.equal(again.plan, made.plan)
  local different = 0
  for _, edit in ipairs(schedule.legal(made)) do
    local other = assert(compose.make(task, { schedule = schedule.apply({}, edit) }))
    different = different + (other.source .. other.plan ~= made.source .. made.plan and 1 or 0)
  end
  assert(different >= 8, different .. " edits change anything")
end)

check.test("edits: done and undone they leave nothing behind", function()
  local t = tasks[6]
  local task <close> = assert(composed.task(t[1], t[2], t[3]))
  local made = assert(compose.make(task, {}))
  local seen = {}
  for _, edit in ipairs(schedule.legal(made)) do
    local s = schedule.apply({}, edit)
    local back = edit.kernel and { kernel = edit.kernel, name = edit.name } or edit.cut and { join = edit.cut } or { rewrite = edit.skip }
    check.equal(schedule.text(schedule.apply(s, back)), "{}")
    local legal = schedule.legal(assert(compose.make(task, { schedule = s })))
    local found = false
    for _, e in ipairs(legal) do
      found = found or e.kernel == back.kernel and e.name == back.name and e.value == nil and e.join == back.join and e.rewrite == back.rewrite
    end
    assert(found or edit.kernel, schedule.text(s) .. " cannot be undone")
    seen[edit.skip and "skip" or edit.cut and "cut" or "kernel"] = true
  end
  assert(seen.skip and seen.kernel)
end)

check.test("a rewrite that a schedule skips is not done", function()
  local t = tasks[6]
  local task <close> = assert(composed.task(t[1], t[2], t[3]))
  check.equal(#assert(compose.make(task, {})).rewrites, 1)
  check.equal(#assert(compose.make(task, { schedule = { skip = { 1 } } })).rewrites, 0)
end)

check.test("text and back", function()
  local s = { skip = { 1, 3 }, cuts = { "1.1|2.1" }, kernels = { ["5.2"] = { vector = 2, stay = false, loop = "simt" } } }
  local text = schedule.text(s)
  check.equal(text, '{ skip = { 1, 3 }, cuts = { "1.1|2.1" }, kernels = { ["5.2"] = { loop = "simt", stay = false, vector = 2 } } }')
  check.equal(schedule.text(assert(schedule.parse(text))), text)
  check.equal(schedule.text(assert(schedule.parse "{}")), "{}")
  for text, says in pairs {
    ["{ skip = 3 }"] = "skip must be a list", ["{ cuts = { 3 } }"] = "cuts has a number, it takes strings", ["{ tile = 3 }"] = "there is no 'tile'",
    ["{ kernels = { a = 3 } }"] = "kernels has tables of options", ["os.exit()"] = "a table is expected", ["{"] = "schedule:1:",
    ['{ kernels = { a = { lanes = "box" } } }'] = "lanes takes a number", ["{ kernels = { a = { vector = 0 } } }"] = "vector takes a whole number from 1",
    ["{ kernels = { a = { tile = 1.5 } } }"] = "tile takes a whole number", ["{ kernels = { a = { hold = 3 } } }"] = "hold takes a boolean",
    ["{ stores = 3 }"] = "stores must be a list",
    ["{ kernels = { a = { b = {} } } }"] = "an option has a name and a plain value",
  } do
    local nothing, why = schedule.parse(text)
    check.equal(nothing, nil)
    check.matches(why, says)
  end
end)

return check.done()
