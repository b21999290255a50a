-- `cawb tune`, as a strategy: what it says and records, what the next search knows of it, and what Ctrl-C leaves. Where times must be
-- known beforehand they are made up.

local check = dofile "tests/support/check.lua"
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
  check.matches(out, "schedule: there is no 'tile'; there are skip, no_partial_sums, stores, cuts and kernels")
end)

-- The strategy with made-up times: a kernel's text says how long it takes, and the first is the slowest. What is measured stands in the
-- file MEASURED; after so many measurements as STOP says it is as if somebody pressed Ctrl-C.
local made_up = [[
  local cawb, compose, core = require "cawb", require "cawb.compose", require "cawb.core"
  local cache_key, own = require "cawb.compose.tune.cache_key", {}
  local measured, stop, file = 0, tonumber(os.getenv "STOP"), io.open(os.getenv "MEASURED", "a")
  cawb.profile = function(_, candidate)
    measured = measured + 1
    file:write(candidate.note, "\n")
    if measured == stop then os.execute("kill -TERM " .. io.open("/proc/self/stat"):read "n") end       -- as Ctrl-C, and os.execute ignores that one
    return { ok = true, kernels = {} }
  end
  compose.times = function(made)
    local times = {}
    for k, kernel in ipairs(made.kernels) do
      local text = cache_key.of(kernel)
      if measured == 1 then own[text] = true end
      times[k] = own[text] and 1e-6 or 1e-6 * (0.3 + tonumber(core.hash.sha256(text):sub(1, 4), 16) / (1 << 17))
    end
    return times
  end
  return dofile "strategies/tune.lua"]]

local dir = check.folder()
local strategy, number = check.write(dir .. "/made_up.lua", made_up), 0

-- A run of it: its result, its exit code, and the schedules that were measured.
local function searched(words, stop)
  number = number + 1
  local out, status = check.shell(("XDG_CACHE_HOME='%s/cache' MEASURED='%s/%d' STOP=%d '%s' %s examples/layernorm.py %s --set settings.seconds=100 %s --json --out %s 2>%s/err")
    :format(dir, dir, number, stop or 0, core.program, strategy, small, words, dir, dir))
  local list = {}
  for line in io.lines(("%s/%d"):format(dir, number)) do list[#list + 1] = line end
  return assert(core.json.decode(out), out), status, list
end

check.test("a second search of a task begins where the first one ended, whatever folder it writes into; other sizes and devices try that early", function()
  local first, status = searched "--set settings.measurements=8"
  check.equal(status, 0)
  check.equal(#first.turns, 2)
  local best = first.turns[2].note
  assert(best ~= "schedule = {}", best)
  local again = searched "--set settings.measurements=2"
  check.equal(again.turns[1].note, best)
  local _, _, measured = searched "--set settings.measurements=3 --set task.rows=48"
  check.equal(measured[1], "schedule = {}")
  check.equal(measured[2], best)
  _, _, measured = searched "--set settings.measurements=3 --device sim:a100"
  check.equal(measured[1], "schedule = {}")
  check.equal(measured[2], best)
  again, _, measured = searched "--set settings.measurements=1 --set settings.records=false"
  check.equal(again.turns[1].note .. measured[1], "schedule = {}schedule = {}")
end)

check.test("what was measured stands in the run's record", function()
  local store <close> = assert(core.store.open(dir))
  local rows = store:query "SELECT data FROM events WHERE kind = 'measured' ORDER BY rowid"
  local kernels = core.json.decode(rows[1].data).kernels
  assert(#kernels >= 8 and kernels[1].about.by == "rows" and kernels[1].options == "" and kernels[1].change == 0.0)
end)

check.test("Ctrl-C ends the search; the best that it found by then is judged and kept", function()
  local r, status = searched("--set settings.measurements=1000 --set settings.records=false", 4)
  check.equal(status, 130)
  check.equal(r.ended, "interrupted")
  check.equal(#r.turns, 2)
  check.equal(r.turns[2].name, "compose/tuned")
  assert(r.turns[2].ok, r.turns[2].reason)
end)

return check.done()
