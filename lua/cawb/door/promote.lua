-- promote: the door to production. A candidate gets out only if it passes every check here: the
-- strict judge on every shape that the user lists, the sanitizer, a material speed-up with
-- confidence, and the incumbent's time. What gets out does not need cawb.

local candidates = require "cawb.judge.task.candidate"
local core = require "cawb.core"
local deliver = require "cawb.door.deliver"
local judge = require "cawb.judge.judge"
local execute = require "cawb.judge.worker.execute"
local needed = require "cawb.base.need"
local display = require "cawb.base.display"
local python = require "cawb.base.python"
local sanitizer = require "cawb.judge.verify.sanitizer"
local shell = require "cawb.base.shell"
local sizes = require "cawb.door.promoted.sizes"
local stats = require "cawb.base.stats"

local M = {}

local need = needed.need

M.trials = 10                   -- fresh inputs for each shape
M.test_seconds = 600            -- that the package's own test may take
M.speedup = 1 + stats.margin                -- over eager and over compile, each

-- ---- what is checked

-- One line of the report; `ok` false closes the door.
local function note(checks, what, ok, detail)
  checks[#checks + 1] = { what = what, ok = ok and true or false, detail = detail or "" }
  return ok
end

local function spec_words(list)
  local words = {}
  for i, t in ipairs(list) do words[i] = ("%s[%s]"):format(t.dtype or "?", table.concat(t.shape or {}, ", ")) end
  return table.concat(words, " ")
end

-- What a package outside cannot do, by the task.
local function unfit(task)
  for i, spec in ipairs(task.inputs) do
    if not spec.dtype then return ("input %d is no tensor: make it a constant of the Model"):format(i) end
  end
  for i, spec in ipairs(task.outputs) do
    if spec.name and not spec.name:match "^%[?%d*%]?$" then
      return ("forward returns output %d under the name '%s': return tensors, or a tuple of them"):format(i, spec.name)
    end
  end
  for _, what in ipairs(task.alters) do
    if what == "inputs" then return "forward writes to its inputs: return what it computes" end
    return "forward changes the module's own state, such as running statistics, which kernels do not: put the module into "
      .. "eval() at the end of its __init__"
  end
end

-- What a package outside cannot do, by the plan.
local function unexportable(plan)
  for _, phase in ipairs { plan.prepare, plan.call } do
    for _, step in ipairs(phase) do
      if step.kind == "fill" and step.bytes % 4 ~= 0 then return "a memset of a tensor whose bytes are no multiple of 4" end
      if step.compute and step.dtype == "float32" and step.compute ~= "float32" then
        return ("a library call computes in %s, which PyTorch has for a whole process only"):format(step.compute)
      end
      if step.out_dtype ~= step.dtype then
        return ("a library call of %s has results in %s, which PyTorch's has not"):format(step.dtype, step.out_dtype)
      end
    end
  end
end

-- The member for a shape: what a tunable must be there, and else what was chosen.
local function member(task, candidate, options)
  local declared = need(execute.tunables(task, candidate, options))
  if not declared.ok then needed.fail(declared.reason, "usage") end
  local values = {}
  for _, t in ipairs(declared.tunables) do
    local chosen = candidate.tunables and candidate.tunables[t.name]
    values[t.name] = t.values[1]
    for _, v in ipairs(t.values) do if v == chosen then values[t.name] = v end end
  end
  return next(values) and candidate:with(values) or candidate
end

local function check_speed(checks, label, facts, least)
  local fine = true
  for _, kind in ipairs { "eager", "compile" } do
    local s = facts.speedup and facts.speedup[kind]
    if s then
      local ok = s.median >= least and s.lo > math.min(1, least)
      fine = note(checks, ("%s: at least %gx over %s"):format(label, least, kind), ok, display.speedup(s)
        .. (ok and "" or "; --speedup NUMBER asks for another one")) and fine
    end
  end
  return fine
end

local function check_incumbent(checks, label, task, incumbent, facts, options)
  if not incumbent then return true end
  local old, message = judge.judge(task, incumbent, options, { once = true, against = {}, trials = 1 })
  if not old or not old.ok then
    return note(checks, label .. ": faster than the incumbent", true,
      "the incumbent does not run here: " .. tostring(old and old.reason or message))
  end
  return note(checks, label .. ": faster than the incumbent", facts.time_s.hi < old.time_s.lo,
    ("%s, it has %s"):format(display.interval(facts.time_s), display.interval(old.time_s)))
end

-- Whether the strict judge, by these settings, finds a candidate right: the facts, or nil.
local function check_strictly(checks, label, task, candidate, options, settings)
  settings.once = true
  local facts, trials = need(judge.judge(task, candidate, options, settings)), settings.trials
  local fine = note(checks, ("%s: the strict judge, %s"):format(label, trials == 1 and "one trial" or trials .. " trials"), facts.ok,
    facts.ok and ("error %.2g, PyTorch's %.2g"):format(facts.error.nrms or 0, facts.error.eager and facts.error.eager.nrms or 0)
    or tostring(facts.reason))
  return fine and facts or nil
end

-- One shape: verified, timed, exported. A `quick` one is verified on one draw of each kind of input, and not timed; where an
-- execution takes long (`long`), one of two kinds. Returns what the package needs, or nil.
local function try_shape(checks, task, candidate, incumbent, options, how, quick, long)
  local label = spec_words(task.inputs)
  local why = unfit(task)
  if why then return note(checks, label .. ": usable in another program", false, why) and nil end
  local one = member(task, candidate, options)
  local facts = check_strictly(checks, label, task, one, options, { trials = (quick or long) and 1 or M.trials,
    battery = long and { "mixed" } or nil, against = quick and {} or nil })
  if not facts then return nil end
  local flags = facts.rules and facts.rules.flags or {}
  for _, flag in ipairs(flags) do note(checks, ("%s: a remark, no fault (rule '%s')"):format(label, flag.rule), true, flag.reason) end
  if not quick then
    check_speed(checks, label, facts, how.speedup)
    check_incumbent(checks, label, task, incumbent, facts, options)
  end
  local whole = need(execute.export(task, one, options))
  why = not whole.ok and whole.reason or unexportable(whole.plan)
  if why and not note(checks, label .. ": the plan can be exported", false, why) then return nil end
  return { plan = whole.plan, built = whole.built, facts = facts, inputs = task.inputs, outputs = task.outputs,
           params = task.params, label = label }
end

local function check_sanitizer(checks, task, candidate, options)
  local one = needed.caught(member, task, candidate, options)
  local r, message, name = sanitizer.sanitize(task, one or candidate, options, {})
  if name == "missing" then return note(checks, "the sanitizer", false, message) end
  need(r, message, name)
  local words = {}
  for _, f in ipairs(r.findings or {}) do words[#words + 1] = sanitizer.words(f) end
  note(checks, "the sanitizer", r.ok and r.clean, r.ok and (r.clean and "clean" or table.concat(words,
    "; ")) or r.reason)
end

-- ---- the package itself

-- What a command says, and whether it succeeds.
local function said_by(...)
  local pipe = assert(io.popen((...):format(select(2, ...))))
  local said = pipe:read "a"
  return said, pipe:close()
end

-- Why the package's own test refuses it, in a folder where nothing else lies; nil where it passes.
local function tested(folder, python_path)
  local said, ok = said_by("cd %s && PYTHONDONTWRITEBYTECODE=1 timeout %d %s test_promoted.py 2>&1", shell.quoted(folder), M.test_seconds,
    shell.quoted(python_path))
  return not ok and (said:match "\n(%w+Error:[^\n]*)" or said:match "([^\n]+)%s*$" or "it says nothing") or nil
end

-- Modules beside the task that it imports: they go along. One path a line.
local function neighbours(first, python_path)
  local said, ok = said_by("%s %s %s", shell.quoted(python_path), shell.quoted(core.home .. "/lua/cawb/door/promoted/neighbours.py"), shell.quoted(first.path))
  return ok and said or needed.fail(first.path .. ": the modules that it imports cannot be found: see above", "task")
end

-- The package is written beside its place, and tested there as its user would. A package that was there before stays where it fails.
local function check_package(result, was, shapes, first)
  local place, beside = result.folder, result.folder .. ".untested"
  local project = result.project
  result.folder, result.project = beside, nil
  need(deliver.write(result, sizes.own(was), shapes, first))
  local why = tested(beside, result.python)
  os.execute("rm -rf " .. shell.quoted(beside))
  result.folder, result.project = place, project
  result.ok = note(result.checks, "the package's own test" .. (result.modelled and ", as far as it goes without a GPU" or ""), not why,
    why or "passes")
end

-- ---- all of it

local function calls_library(plan)
  for _, phase in ipairs { plan.prepare, plan.call } do
    for _, step in ipairs(phase) do if step.kind == "gemm" or step.kind == "conv" then return true end end
  end
  return false
end

local function take_shape(result, shape, quick)
  result.libraries = result.libraries or calls_library(shape.plan)
  if quick then result.quick = result.quick + 1
  else table.insert(result.times, { label = shape.label, time_s = shape.facts.time_s, speedup = shape.facts.speedup }) end
end

-- One of the shapes: kept in `all`, if it passed.
local function try_one(all, was, dev, how, host, wanted, run_own)
  local result = all.result
  local t <close>, options, why = sizes.open(was, dev, host, wanted.overrides)
  if not t then return note(result.checks, spec_words(options.inputs) .. ": judged in full", false, why) end
  local candidate = run_own and sizes.own(was) or sizes.moved(t, sizes.own(was), options)
  local shape = try_shape(result.checks, t, candidate, all.incumbent, options, how, wanted.quick, sizes.apart(was, dev))
  if shape then
    all.shapes[#all.shapes + 1] = shape
    take_shape(result, shape, wanted.quick)
  end
  local bytes = sizes.bytes_of(t.inputs)
  if bytes < all.least then all.least, all.least_at, all.run_own = bytes, wanted.overrides, run_own end
  all.first = all.first or { path = t.path, source = t.info.source, overrides = options.task, arch = dev.info.arch }
end

-- The sizes that the run verified, where they are others than the task's own.
local function try_small(all, small, was, options)
  local label = spec_words(small.inputs)
  check_strictly(all.result.checks, label, small, was.candidate, options, { trials = M.trials, against = {} })
  check_sanitizer(all.result.checks, small, was.candidate, options)
end

-- The smallest of the shapes under the sanitizer.
local function sanitize_smallest(all, was, dev, host)
  local t <close>, options = sizes.open(was, dev, host, all.least_at)
  local candidate = all.run_own and sizes.own(was) or needed.caught(sizes.moved, t, sizes.own(was), options) or was.candidate
  check_sanitizer(all.result.checks, t, candidate, options)
end

-- Every shape in turn, and the smallest under the sanitizer. Returns the shapes and what is to be known of the task.
local function try_all(was, dev, how, result, host)
  local incumbent = core.fs.kind(result.folder .. "/kernel.cu") and assert(candidates.new(result.folder)) or nil
  local all = { result = result, incumbent = incumbent, shapes = {}, least = math.huge, run_own = true }
  local list = table.move(how.shapes, 1, #how.shapes, 2, { { overrides = {} } })
  for i, wanted in ipairs(list) do
    if how.say then how.say(i, #list) end
    try_one(all, was, dev, how, host, wanted, i == 1)
  end
  local small <close>, options = sizes.small(was, dev, host)
  if small then try_small(all, small, was, options)
  elseif all.least_at then sanitize_smallest(all, was, dev, host) end
  return all.shapes, all.first
end

local function new_result(was, dev, how)
  return { name = how.name, package = how.package, folder = how.folder, project = how.project, otherwise = how.otherwise,
    run = was.run.id, turn = was.number, hash = was.candidate.hash, model = dev.info.model, modelled = dev.info.modelled,
    checks = {}, times = {}, quick = 0, libraries = false, ok = true }
end

--- Promote a turn out of a record (run/restored.lua) on an open device. `how` = { folder = where the package goes, package =
--- and what it is called, project = where a pyproject.toml goes, name = of the operator, shapes = a list of { overrides =
--- besides the task's own sizes, quick = between the ends of a range }, speedup = least, modelled = accept modelled times,
--- otherwise = "reference", "warn" or "refuse", say = function(i, n) }. Returns { ok, checks, times, ... }; nothing is
--- written unless all passed. It is called inside a command, which a failure ends (base/need.lua).
function M.run(was, dev, how)
  needed.sound(was.candidate.plan, "a Python candidate cannot be promoted: it has no plan that a launcher could execute")
  local result = new_result(was, dev, how)
  local modelled = dev.info.modelled
  note(result.checks, modelled and how.modelled and "times are modelled, which --modelled allows" or "times are measured",
    not modelled or how.modelled, modelled and not how.modelled and "here they are modelled; --modelled lets them count, to try promotion out" or "")
  local host <close>, hello = need(python.start(was.options.deadlines.start))
  result.python = hello.path
  result.remark = sizes.remark(was, dev, { host, hello })
  local shapes, first = try_all(was, dev, how, result, { host, hello })
  for _, c in ipairs(result.checks) do result.ok = result.ok and c.ok end
  if result.ok then result.neighbours = neighbours(first, result.python) end
  if result.ok then check_package(result, was, shapes, first) end
  if not result.ok then return result end
  need(deliver.write(result, sizes.own(was), shapes, first))
  return result
end

return M
