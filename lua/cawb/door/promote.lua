-- promote: the door to production. A candidate gets out only if it passes every check here: the
-- strict judge on every shape that the user lists, the sanitizer, a material speed-up with
-- confidence, and the incumbent's time. What gets out does not need cawb.

local candidates = require "cawb.judge.task.candidate"
local core = require "cawb.core"
local deliver = require "cawb.door.deliver"
local judge = require "cawb.judge.judge"
local execute = require "cawb.judge.worker.execute"
local file = require "cawb.base.file"
local needed = require "cawb.base.need"
local options = require "cawb.base.options"
local display = require "cawb.base.display"
local python = require "cawb.base.python"
local sanitizer = require "cawb.judge.verify.sanitizer"
local shell = require "cawb.base.shell"
local stats = require "cawb.base.stats"
local tasks = require "cawb.judge.task.task"
local variants = require "cawb.compose.variants"

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

-- What was composed holds for one shape. At another the task is lowered again, the same way; a kernel of somebody's own has
-- a plan for every shape.
local function at_shape(task, candidate, options, own)
  local variant = not own and variants.of(candidate)
  if not variant then return candidate end
  local made = needed.sound(variants.make(task, options, variant))
  return candidates.new { source = made.source, plan = made.plan, options = made.options, name = variant.name }
end

-- The member for a shape: what a tunable must be there, and else what was chosen.
local function member(task, candidate, options, own)
  candidate = at_shape(task, candidate, options, own)
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

-- One shape: verified, timed, exported; a `quick` one is verified on one draw of each kind of input. Returns what the
-- package needs, or nil.
local function try_shape(checks, task, candidate, incumbent, options, how, quick, own)
  local label = spec_words(task.inputs)
  local why = unfit(task)
  if why then return note(checks, label .. ": usable in another program", false, why) and nil end
  local one = member(task, candidate, options, own)
  local trials = quick and 1 or M.trials
  local facts = need(judge.judge(task, one, options, { once = true, trials = trials, against = quick and {} or nil }))
  if not note(checks, ("%s: the strict judge, %s"):format(label, trials == 1 and "one trial" or trials .. " trials"), facts.ok,
      facts.ok and ("error %.2g, PyTorch's %.2g"):format(facts.error.nrms or 0,
        facts.error.eager and facts.error.eager.nrms or 0)
      or tostring(facts.reason)) then return nil end
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

local function check_sanitizer(checks, task, candidate, options, own)
  local one = needed.caught(member, task, candidate, options, own)
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
  need(deliver.write(result, was, shapes, first))
  local why = tested(beside, result.python)
  os.execute("rm -rf " .. shell.quoted(beside))
  result.folder, result.project = place, project
  result.ok = note(result.checks, "the package's own test" .. (result.modelled and ", as far as it goes without a GPU" or ""), not why,
    why or "passes")
end

-- ---- all of it

--- How many times as long a kernel may take where the processor executes it: other work there takes turns with it.
function M.patience(text)
  local load = tonumber((text or file.read "/proc/loadavg" or ""):match "^([%d.]+)")
  return math.max(1, load or 1)
end

-- The run's options for one shape, under the strict rules.
local function options_for(was, overrides, modelled)
  local all = options.copy(was.options)
  all.rules = "strict"
  if modelled then all.deadlines.run = all.deadlines.run * M.patience() end
  needed.sound(options.overlay(all, { task = overrides }, "--shape"))
  return all
end

local function bytes_of(specs)
  local total = 0
  for _, s in ipairs(specs) do total = total + (s.bytes or 0) end
  return total
end

-- The task at other sizes, in the task host that all of them share, to be closed, and the options.
local function at_sizes(was, dev, host, overrides)
  local all = options_for(was, overrides, dev.info.modelled)
  return need(tasks.open(was.run.task, { device = dev, options = all, host = host })), all
end

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

-- Every shape in turn, and the smallest under the sanitizer. Returns the shapes and what is to be known of the task.
local function try_all(was, dev, how, result, host)
  local shapes, first, least, least_at, own = {}, nil, math.huge, {}, true
  local incumbent = core.fs.kind(result.folder .. "/kernel.cu") and assert(candidates.new(result.folder)) or nil
  local list = table.move(how.shapes, 1, #how.shapes, 2, { { overrides = {} } })
  for i, wanted in ipairs(list) do
    if how.say then how.say(i, #list) end
    local t <close>, all = at_sizes(was, dev, host, wanted.overrides)
    local shape = try_shape(result.checks, t, was.candidate, incumbent, all, how, wanted.quick, i == 1)
    if shape then
      shapes[#shapes + 1] = shape
      take_shape(result, shape, wanted.quick)
    end
    if bytes_of(t.inputs) < least then least, least_at, own = bytes_of(t.inputs), wanted.overrides, i == 1 end
    first = first or { path = t.path, source = t.info.source, overrides = all.task, arch = dev.info.arch }
  end
  local t <close>, all = at_sizes(was, dev, host, least_at)
  check_sanitizer(result.checks, t, was.candidate, all, own)
  return shapes, first
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
  local shapes, first = try_all(was, dev, how, result, { host, hello })
  for _, c in ipairs(result.checks) do result.ok = result.ok and c.ok end
  if result.ok then result.neighbours = neighbours(first, result.python) end
  if result.ok then check_package(result, was, shapes, first) end
  if not result.ok then return result end
  need(deliver.write(result, was, shapes, first))
  return result
end

return M
