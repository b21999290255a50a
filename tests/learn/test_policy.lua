-- The strategy `policy`: a checkpoint's programs become turns; what cannot be read is no turn of the run; what is missing is said. The
-- checkpoint is made here, of a few steps on a judge that is made up, and of fixed draws.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local python = require "cawb.base.python"

local dir = check.folder()
local host, hello = assert(python.start(60))
host:close()

local maker = check.write(dir .. "/maker.py", ([[
import sys
sys.path[:0] = [%q, %q]
import torch
torch.set_num_threads(1)
import test_train as t
import stages
table = t.small(prior_steps=60, prior_rate=1e-2, prior_programs=8, single_steps=0, rft_steps=0, value_steps=0, agentic_steps=0,
                length=256, free=False)
stages.Trainer(table, t.Judge(), ["a"], {}, %q).run()
]]):format(core.home .. "/python/cawb_learn", core.home .. "/tests/learn", dir .. "/run"))
local made = os.execute(("'%s' '%s' 2> /dev/null"):format(hello.path, maker))
assert(made, "no checkpoint was made")

local function cawb(...)
  local words = { core.program, "strategies/policy.lua", "examples/softmax.py", "--device sim:h100 --set task.rows=8 --set task.cols=64 --json --out",
                  dir .. "/runs", "--set verify.trials=1 --set verify.battery=mixed --set confirm.enabled=false", ... }
  local out = io.popen(table.concat(words, " ") .. " 2> " .. dir .. "/errors")
  local text = out:read "a"
  out:close()
  local f = assert(io.open(dir .. "/errors"))
  local errors = f:read "a"
  f:close()
  return core.json.decode(text:match "([^\n]*)\n*$"), errors
end

check.test("its programs are turns, judged as any", function()
  local result, errors = cawb("--set settings.turns=2 --set settings.checkpoint=" .. dir .. "/run/checkpoint.pt")
  assert(result, errors)
  assert(#result.turns >= 1 and #result.turns <= 2, errors)
  for _, turn in ipairs(result.turns) do
    check.matches(turn.note, "^schedule = {")
    check.equal(turn.ok, true)                  -- the sound language has nothing that is wrong
  end
end)

check.test("without a checkpoint, or with what is none, it says so", function()
  local result, errors = cawb ""
  check.matches((result and result.reason or "") .. errors, "give a checkpoint")
  local _, other = cawb("--set settings.checkpoint=" .. dir .. "/nowhere.pt")
  check.matches(other, "nowhere.pt")
end)

return check.done()
