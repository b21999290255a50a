-- `cawb tune`, as a strategy: what it says and records, what the next search knows of it, and what Ctrl-C leaves. Where times must be
-- known beforehand they are made up.

local check = dofile "tests/lua/check.lua"
local core = require "cawb.core"

local small = "--device sim:h100 --set task.rows=16 --set task.cols=512 --set confirm.enabled=false --set verify.battery=mixed --set verify.trials=1 "
  .. "--set measure.against= --set profile=none "

check.test("as a strategy: the second turn is what was found, and the record has the schedules", function()
  local dir = check.folder()
  local out, status = check.shell(("XDG_CACHE_HOME='%s/cache' '%s' tune examples/layernorm.py --device sim:h100 --set task.rows=16 --set task.cols=512 "
    .. "--set settings.measurements=6 --set confirm.enabled=false --set verify.battery=mixed --set verify.trials=1 --out %s 2>&1")
    :format(dir, core.program, dir))
  check.equal(status, 0, out)
  check.matches(assert(io.open(dir .. "/cache/cawb/tune/H100_SXM_simulated_.jsonl")):read "a", '"by":"rows"')
  check.matches(out, "measurements: kernels [%d.]+ %-> [%d.]+ us; schedule = {")
  out, status = check.shell(("'%s' tune examples/layernorm.py --device sim:h100 --set 'settings.schedule={ tile = 3 }' --out %s 2>&1")
    :format(core.program, dir))
  check.equal(status, 1, out)
  check.matches(out, "schedule: there is no 'tile'; there are kept, stores, cuts, kernels and strict")
end)

-- The strategy with made-up times: each kernel is faster with more lanes. After so many measurements it is as if somebody pressed Ctrl-C.
local interrupted = [[
  local cawb, compose, core = require "cawb", require "cawb.compose", require "cawb.core"
  local lanes = { [32] = 0.7, [64] = 0.6, [256] = 0.5, [512] = 0.4 }
  local measured = 0
  cawb.profile = function()
    measured = measured + 1
    if measured == 4 then os.execute("kill -TERM " .. io.open("/proc/self/stat"):read "n") end       -- as Ctrl-C, and os.execute ignores that one
    return { ok = true, kernels = {} }
  end
  compose.times = function(made)
    local times = {}
    for k, kernel in ipairs(made.kernels) do
      local own = (made.schedule.kernels or {})[compose.schedule.key(kernel)] or {}
      times[k] = 1e-6 * (lanes[own.lanes] or 1)
    end
    return times
  end
  return dofile "strategies/tune.lua"]]

check.test("Ctrl-C ends the search; the best that it found by then is judged and kept", function()
  local dir = check.folder()
  local out, status = check.shell(("XDG_CACHE_HOME='%s/cache' '%s' %s examples/layernorm.py %s --set settings.seconds=100 --set settings.measurements=1000 --json --out %s 2>%s/err")
    :format(dir, core.program, check.write(dir .. "/ctrl_c.lua", interrupted), small, dir, dir))
  check.equal(status, 130, out)
  local r = assert(core.json.decode(out), out)
  check.equal(r.ended, "interrupted")
  check.equal(#r.turns, 2)
  check.equal(r.turns[2].name, "compose/tuned")
  assert(r.turns[2].ok, r.turns[2].reason)
end)

return check.done()
