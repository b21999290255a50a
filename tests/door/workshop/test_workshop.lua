-- examples/workshop: reward, budget, rules, model and strategy are each one line, and each line does
-- what it says.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"

local dir = check.folder()
local here = "examples/workshop/"

-- A run as the README types it; its JSON object, and its options as recorded.
local function run(words, strategy)
  local out, status = check.shell(("'%s' %s examples/softmax.py --device sim:h100 --json --quiet --set sweep.variants=1 "
    .. "--out %s/runs %s 2>%s/err"):format(core.program, strategy or here .. "strategy.lua", dir, words, dir))
  local result = core.json.decode(out:match "([^\n]+)\n?$" or "")
  assert(result, io.open(dir .. "/err"):read "a")
  local store = assert(core.store.open(dir .. "/runs"))
  local row = store:query("select options from runs where id = ?1", result.run)[1]
  store:close()
  return result, assert(core.json.decode(row.options)), status
end

local small = "--set task.rows=16 --set task.cols=64 "
local function with(file) return small .. "--config " .. here .. file .. " " end

local plain = run(small)

check.test("every file is one line of Lua below a comment, and the README has them all", function()
  local readme = assert(io.open(here .. "README.md")):read "a"
  local found = 0
  for _, name in ipairs(assert(core.fs.list(here))) do
    if name:match "%.lua$" then
      local code = 0
      for line in io.lines(here .. name) do
        if line:find "%S" and not line:match "^%-%-" then code = code + 1 end
      end
      check.equal(code, 1, name)
      assert(readme:find("(" .. name .. ")", 1, true), name)
      found = found + 1
    end
  end
  assert(found >= 6)
end)

check.test("the strategy: another base, other candidates", function()
  assert(#plain.turns >= 5)
  check.matches(plain.turns[1].name, "softmax/v1")
  local file = check.write(dir .. "/other.lua", assert(io.open(here .. "strategy.lua")):read "a":gsub("ladder", "single"))
  local r = run(small .. "--config examples/workshop/model.lua --config examples/workshop/offline.lua", file)
  assert(r.spent.replies > 0, "no model was asked")
end)

check.test("the reward: the same turns, other numbers, another best", function()
  local log, own = run(with "reward.lua"), run(with "own_reward.lua")
  for i, turn in ipairs(plain.turns) do
    assert(turn.reward == 1 or turn.reward == 2 or turn.reward == 3, "no tier")
    local least = math.min(log.turns[i].speedup.eager.lo, log.turns[i].speedup.compile.lo)
    assert(math.abs(log.turns[i].reward - math.max(-1, math.log(least))) < 1e-9)
    assert(own.turns[i].reward > 0 and own.turns[i].reward <= 100 / 16)
  end
  assert(own.best ~= log.best, "few registers and a short time pick the same turn")
end)

check.test("the budget: it ends the run, which says so", function()
  local r = run(with "budget.lua")
  check.equal(#r.turns, 2)
  check.equal(r.ended, "turns")
end)

check.test("the rules: what uses shuffles is rejected, with the word", function()
  local r = run(with "rules.lua")
  for i, turn in ipairs(plain.turns) do assert(turn.ok, i) end
  assert(r.turns[2].ok, r.turns[2].reason)
  check.equal(r.turns[3].ok, false)
  check.equal(r.turns[3].stage, "source")
  check.matches(r.turns[3].reason, "__shfl")
end)

check.test("the model: another name and address, without a network", function()
  local r, options, status = run(with("model.lua"):gsub("%-%-set task%.%S+ ", "") .. "--config " .. here .. "offline.lua",
    "strategies/react.lua")
  check.equal(status, 0)
  check.equal(options.model.name, "qwen3-coder")
  check.equal(r.best, 4)
end)

return check.done()
