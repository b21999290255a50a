-- Baselines, and where their times are kept: without a device.

local check = dofile "tests/support/check.lua"
local baselines = require "cawb.judge.time.baselines"
local names = require "cawb.base.baseline_names"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local options = require "cawb.base.options"
local seeds = require "cawb.base.seeds"
local cache = require "cawb.base.cache"

local getenv, place = os.getenv, check.folder()
os.getenv = function(name) return name == "XDG_CACHE_HOME" and place or getenv(name) end

local function device(changes)
  local info = { name = "cuda:0", model = "a card", uuid = "", driver = "1", modelled = false, sms = 2,
                 memory = 1 << 30, l2 = 1 << 20 }
  for k, v in pairs(changes or {}) do info[k] = v end
  return { info = info, smi = {} }
end

local function fake(known)
  local asked = {}
  local task = { baselines = known or {}, outputs = { { dtype = "float32" } }, python = { torch = "2" },
    device = device(), info = { source_sha256 = "abc", constants = { n = 3 } },
    next_seed = seeds.generator "test" }
  function task:ask(request)
    local kind = request.order[1]
    asked[#asked + 1] = kind
    if kind:match "^max" then return { kinds = { [kind] = { failed = "no Triton" } }, batches = {} } end
    return { kinds = { [kind] = { error = { nrms = 3e-4, worst = 1e-3 }, setup_s = 2.0 } },
             batches = { { kind = kind, samples = { 1e-3, 2e-3, 3e-3 } } } }
  end
  return task, asked
end

-- The options `measure` with this matrix.
local function matrix(kinds)
  local how = options.copy(defaults.measure)
  how.matrix = kinds
  return how
end

local function base(time, nrms)
  return { time_s = { median = time, lo = time, hi = time, samples = 1 }, error = { nrms = nrms, worst = nrms } }
end
local function speedup(x) return { median = x, lo = x - 0.1, hi = x + 0.1, verdict = "faster" } end

check.test("a speed-up is quoted against the fastest that is no less accurate", function()
  local task = fake { eager = base(4, 1e-7), compile = base(3, 1e-7), compile_tf32 = base(1, 3e-4) }
  local s = { eager = speedup(4), compile = speedup(3), compile_tf32 = speedup(1) }
  local strict = baselines.at_equal_error(task, s, { nrms = 2e-7 }, defaults.tolerance)
  check.equal(strict.against, "compile")
  check.equal(strict.median, 3)
  check.equal(table.concat(strict.less_accurate, " "), "compile_tf32")
  check.equal(baselines.at_equal_error(task, s, { nrms = 3e-4 }, defaults.tolerance).against, "compile_tf32")
  check.equal(baselines.at_equal_error(task, s, { nrms = 2.8e-4 }, defaults.tolerance).against, "compile_tf32")   -- 10%
  check.equal(baselines.at_equal_error(task, s, { nrms = 2.5e-4 }, defaults.tolerance).against, "compile")
end)

check.test("below one type's floor all errors are equal; without any, the most accurate", function()
  local task = fake { eager = base(4, 3e-6), compile = base(3, 1e-7) }
  local s = { eager = speedup(2), compile = speedup(3) }
  check.equal(baselines.at_equal_error(task, s, { nrms = 1e-9 }, defaults.tolerance).against, "eager")
  task = fake { eager = base(4, 1e-3), compile = base(3, 1e-2) }
  local r = baselines.at_equal_error(task, s, { nrms = 1e-9 }, defaults.tolerance)
  check.equal(r.against, "eager")
  check.equal(#r.less_accurate, 2)
  assert(not baselines.at_equal_error(task, {}, { nrms = 1 }, defaults.tolerance))
end)

check.test("the matrix is completed once, and kept for the next run", function()
  local task, asked = fake { eager = base(4, 1e-7) }
  assert(baselines.complete(task, matrix { "eager", "compile_tf32", "max_autotune" }))
  check.equal(table.concat(asked, " "), "compile_tf32 max_autotune")
  check.equal(task.baselines.compile_tf32.time_s.median, 2e-3)
  check.equal(task.baselines.max_autotune.failed, "no Triton")
  local again, second = fake()
  assert(baselines.complete(again, matrix { "compile_tf32", "max_autotune" }))
  check.equal(table.concat(second, " "), "max_autotune")             -- a failure is not kept
  assert(again.baselines.compile_tf32.cached and again.baselines.compile_tf32.error.nrms == 3e-4)
  local other, third = fake()
  other.device = device { driver = "2" }
  assert(baselines.complete(other, matrix { "compile_tf32" }))
  check.equal(#third, 1)                                             -- another stack
  local rows = baselines.rows(again)
  check.equal(rows[1][1], "compile_tf32")
  check.matches(rows[1][6], "^measured %d%d%d%d%-")
  check.matches(rows[2][6], "failed: no Triton")
end)

check.test("names of baselines", function()
  assert(not names.check({ "eager", "max_autotune_tf32", "file:/a/b.py", { name = "x" } }, "o"))
  check.matches(names.check({ "complie" }, "measure.against"), "measure.against.*did you mean 'compile'")
  check.equal(names.label "file:/a/b.py", "b.py")
  check.fails("missing", "none", baselines.from_path "/none.py")
  local file = check.write(check.folder() .. "/mine.py", "")
  check.matches(baselines.from_path(file), "^file:/.*/mine.py$")
  assert(baselines.from_path "kernels/softmax/v1_thread_per_row".source)
end)

check.test("a kept file that cannot be read counts as absent, and says so", function()
  assert(cache.put("things", "abc", { x = 1.5 }))
  check.equal(cache.get("things", "abc").x, 1.5)
  check.equal(#cache.all "things", 1)
  check.write(cache.path("things", "abc"), "{ not json")
  local value, message = cache.get("things", "abc")
  assert(value == nil)
  check.matches(message, "abc.json is not readable")
  check.equal(#cache.all "things", 0)
  check.equal(core.fs.kind(cache.path("things", "none")), nil)
end)

os.getenv = getenv
return check.done()
