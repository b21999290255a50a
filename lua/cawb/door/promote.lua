-- promote: the door to production. A candidate gets out only if it passes every check here: the
-- strict judge on every shape that the user lists, the sanitizer, a material speed-up with
-- confidence, and the incumbent's time. What gets out does not need cawb.

local candidates = require "cawb.task.candidate"
local core = require "cawb.core"
local evaluate = require "cawb.run.evaluate"
local execute = require "cawb.device.execute"
local file = require "cawb.base.file"
local options = require "cawb.base.options"
local display = require "cawb.base.display"
local sanitizer = require "cawb.judge.sanitizer"
local tasks = require "cawb.task.task"

local M = {}

M.trials = 10                   -- fresh inputs for each shape
M.speedup = 1.05                -- over eager and over compile, each

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

-- What a launcher outside cannot do.
local function unexportable(task, plan)
  for _, spec in ipairs(task.inputs) do
    if not spec.dtype then return "an input is no tensor" end
  end
  if #plan.prepare > 0 then return "the plan has a prepare(), which nothing outside would call when weights change" end
  for _, step in ipairs(plan.call) do
    if step.kind == "library" then return "the plan calls NVIDIA's libraries (gemm, conv)" end
    if step.kind == "fill" and step.bytes % 4 ~= 0 then return "a memset of a tensor whose bytes are no multiple of 4" end
  end
end

-- The member for a shape: what a tunable must be there, and else what was chosen.
local function member(task, candidate, options)
  local declared, message, name = execute.tunables(task, candidate, options)
  if not declared or not declared.ok then return nil, declared and declared.reason or message, name end
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
      fine = note(checks, ("%s: at least %gx over %s"):format(label, least, kind), ok, display.speedup(s)) and fine
    end
  end
  return fine
end

local function check_incumbent(checks, label, task, incumbent, facts, options)
  if not incumbent then return true end
  local old, message = evaluate.one(task, incumbent, options, { against = {}, trials = 1 })
  if not old or not old.ok then
    return note(checks, label .. ": faster than the incumbent", true,
      "the incumbent does not run here: " .. tostring(old and old.reason or message))
  end
  return note(checks, label .. ": faster than the incumbent", facts.time_s.hi < old.time_s.lo,
    ("%s, it has %s"):format(display.interval(facts.time_s), display.interval(old.time_s)))
end

-- One shape: verified, timed, exported. Returns what the launcher needs, or nil; or nil, message,
-- name when the machine failed.
local function try_shape(checks, task, candidate, incumbent, options, how)
  local label = spec_words(task.inputs)
  local one, message, name = member(task, candidate, options)
  if not one then return nil, message, name end
  local facts
  facts, message, name = evaluate.one(task, one, options, { trials = M.trials })
  if not facts then return nil, message, name end
  if not note(checks, ("%s: the strict judge, %d trials"):format(label, M.trials), facts.ok,
      facts.ok and ("error %.2g, PyTorch's %.2g"):format(facts.error.nrms or 0,
        facts.error.eager and facts.error.eager.nrms or 0)
      or tostring(facts.reason)) then return nil end
  local flags = facts.rules and facts.rules.flags or {}
  for _, flag in ipairs(flags) do note(checks, ("%s: flag %s"):format(label, flag.rule), true, flag.reason) end
  check_speed(checks, label, facts, how.speedup)
  check_incumbent(checks, label, task, incumbent, facts, options)
  local whole
  whole, message, name = execute.export(task, one, options)
  if not whole then return nil, message, name end
  local why = not whole.ok and whole.reason or unexportable(task, whole.plan)
  if not note(checks, label .. ": the plan can be exported", not why, why) then return nil end
  return { plan = whole.plan, built = whole.built, facts = facts, inputs = task.inputs, outputs = task.outputs,
           params = task.params, label = label }
end

local function check_sanitizer(checks, task, candidate, options)
  local one = member(task, candidate, options)
  local r, message, name = sanitizer.sanitize(task, one or candidate, options, {})
  if not r then
    if name ~= "missing" then return nil, message, name end
    return note(checks, "the sanitizer", false, message)
  end
  local words = {}
  for _, f in ipairs(r.findings or {}) do words[#words + 1] = sanitizer.words(f) end
  note(checks, "the sanitizer", r.ok and r.clean, r.ok and (r.clean and "clean" or table.concat(words,
    "; ")) or r.reason)
  return true
end

-- ---- what gets out

local function c_bytes(data)
  local lines = {}
  for at = 1, #data, 24 do
    local row = {}
    for i = at, math.min(at + 23, #data) do row[#row + 1] = tostring(data:byte(i)) end
    lines[#lines + 1] = table.concat(row, ",")
  end
  return table.concat(lines, ",\n")
end

local function c_three(v)
  local n = {}
  for i = 1, 3 do n[i] = ("%d"):format(math.max(1, math.tointeger(v[i]))) end
  return "{" .. table.concat(n, ",") .. "}"
end

-- The arrays behind one step, and its line in the plan's table.
local function c_step(out, s, id)
  if s.kind == "fill" then
    return ("  { .nrefs = %d, .shared = %d, .pattern = %du }"):format(s.tensor, s.bytes // 4, s.pattern)
  end
  local bytes, refs = {}, {}
  for hex in s.args:gmatch "%x%x" do bytes[#bytes + 1] = tostring(tonumber(hex, 16)) end
  for i, r in ipairs(s.refs) do refs[i] = ("{%d,%d,%d}"):format(r[1], r[2], r[3]) end
  out[#out + 1] = ("static const unsigned char args_%s[] = {%s};"):format(id,
    #bytes > 0 and table.concat(bytes, ",") or "0")
  out[#out + 1] = ("static const ref refs_%s[] = {%s};"):format(id, #refs > 0 and table.concat(refs,
    ",") or "{0,0,0}")
  return ("  { .kernel = %q, .grid = %s, .block = %s, .cluster = %s, .shared = %d, .cooperative = %d, .args = args_%s,\n    .args_size = %d, .refs = refs_%s, .nrefs = %d }")
    :format(s.kernel, c_three(s.grid), c_three(s.block), c_three(s.cluster), s.shared,
      s.cooperative and 1 or 0, id, #bytes, id, #refs)
end

-- The data of launcher.c: machine code, each once, and the plans.
local function c_data(shapes)
  local out, modules, index, plans = {}, {}, {}, {}
  for i, s in ipairs(shapes) do
    local path = s.built.cubin or s.built.ptx
    local code = assert(file.read(path)) .. "\0"
    if not index[code] then
      modules[#modules + 1] = code
      index[code] = #modules - 1
      out[#out + 1] = ("static const unsigned char code_%d[] __attribute__((aligned(64))) = {\n%s};"):format(#modules - 1, c_bytes(code))
    end
    local lines = {}
    for k, step in ipairs(s.plan.call) do lines[k] = c_step(out, step, ("%d_%d"):format(i, k)) end
    out[#out + 1] = ("static const step steps_%d[] = {\n%s };   /* %s */"):format(i, table.concat(lines,
      ",\n"), s.label)
    plans[i] = ("  { %d, steps_%d, %d }"):format(index[code], i, #s.plan.call)
  end
  local names = {}
  for i = 0, #modules - 1 do names[#names + 1] = "code_" .. i end
  out[#out + 1] = ("static const void *const modules[] = { %s };"):format(table.concat(names, ", "))
  out[#out + 1] = ("static const plan plans[] = {\n%s };"):format(table.concat(plans, ",\n"))
  return table.concat(out, "\n")
end

local function tensors_of(specs)
  local list = core.json.array {}
  for i, t in ipairs(specs) do
    list[i] = core.json.array { t.dtype, core.json.array { table.unpack(t.shape) },
      core.json.array { table.unpack(t.strides) } }
  end
  return list
end

local function about(name, task, shapes)
  local list, params = core.json.array {}, core.json.array {}
  for i, p in ipairs(shapes[1].params) do params[i] = p.name end
  for i, s in ipairs(shapes) do
    local all, roles, scratch = table.move(s.inputs, 1, #s.inputs, 1, {}), core.json.array {}, core.json.array {}
    table.move(s.params, 1, #s.params, #all + 1, all)
    for k, t in ipairs(s.plan.tensors) do
      roles[k] = t.role
      if t.role == "scratch" then scratch[#scratch + 1] = math.tointeger(t.bytes) end
    end
    list[i] = { tensors = tensors_of(all), outputs = tensors_of(s.outputs), roles = roles, scratch = scratch }
  end
  local major, minor = task.device.info.arch:match "^sm_(%d+)(%d)"
  return { name = name, inputs = #shapes[1].inputs, params = params, shapes = list, constants = task.overrides,
           capability = core.json.array { math.tointeger(tonumber(major)),
             math.tointeger(tonumber(minor)) }, cawb = core.version }
end

--- The page that says what was checked.
function M.page(result)
  local lines = { "# " .. result.name, "",
    ("Run %s, turn %d, candidate %s; %s%s, cawb %s, %s."):format(result.run, result.turn,
    result.hash:sub(1, 12), result.model, result.modelled and " (times are modelled, not measured)" or "",
      core.version, os.date "!%Y-%m-%d"), "",
    result.ok and "Every check passed." or "**Refused.**", "", "| check | | |", "| --- | --- | --- |" }
  for _, c in ipairs(result.checks) do
    lines[#lines + 1] = ("| %s | %s | %s |"):format(c.what, c.ok and "passed" or "FAILED",
      (c.detail:gsub("|", "\\|"):gsub("%s+", " ")))
  end
  if result.times and #result.times > 0 then
    lines[#lines + 1] = "\n| shape | time | vs eager | vs compile |\n| --- | --- | --- | --- |"
    for _, t in ipairs(result.times) do
      lines[#lines + 1] = ("| %s | %s | %s | %s |"):format(t.label, display.interval(t.time_s),
        display.speedup(t.speedup.eager),
        display.speedup(t.speedup.compile))
    end
  end
  lines[#lines + 1] = "\nOther shapes, types, strides and GPUs run the reference. `python3 test_promoted.py` checks it again."
  return table.concat(lines, "\n") .. "\n"
end

-- Everything into the folder; the launcher is compiled where there is a compiler.
local function deliver(into, was, shapes, task, result)
  local files = { ["kernel.cu"] = was.candidate.source, ["plan.lua"] = was.candidate.plan,
    ["reference.py"] = assert(file.read(task.path)),
    ["candidate.json"] = core.json.encode { defines = was.candidate.defines, tunables = was.candidate.tunables,
      options = core.json.array { table.unpack(was.candidate.options) } } .. "\n",
    ["promoted.json"] = core.json.encode(about(result.name, task, shapes)) .. "\n", ["report.md"] = M.page(result) }
  local templates = core.home .. "/lua/cawb/door/promoted/"
  for _, name in ipairs { "promoted.py", "test_promoted.py" } do files[name] = assert(file.read(templates .. name)) end
  local head, tail = assert(file.read(templates .. "launcher.c")):match "^(.-)@DATA@(.*)$"
  files["launcher.c"] = head .. c_data(shapes) .. tail
  local ok, message, name = core.fs.mkdir(into)
  for one, text in pairs(files) do
    if ok then ok, message, name = file.write(into .. "/" .. one, text) end
  end
  return ok, message, name
end

-- ---- all of it

-- The run's options for one shape, under the strict rules.
local function options_for(was, overrides)
  local all = options.copy(was.options)
  all.rules = "strict"
  local ok, message = options.overlay(all, { task = overrides }, "--shape")
  if not ok then return nil, message, "usage" end
  return all
end

local function bytes_of(specs)
  local total = 0
  for _, s in ipairs(specs) do total = total + (s.bytes or 0) end
  return total
end

-- Every shape in turn. Returns the shapes, the task of the smallest being sanitized; or nil, message, name.
local function try_all(was, dev, how, result)
  local shapes, first, least, least_at = {}, nil, math.huge, {}
  local incumbent = core.fs.kind(how.into .. "/kernel.cu") and assert(candidates.new(how.into)) or nil
  local list = { {} }
  for _, overrides in ipairs(how.shapes) do list[#list + 1] = overrides end
  for _, overrides in ipairs(list) do
    local all, wrong, kind = options_for(was, overrides)
    if not all then return nil, wrong, kind end
    local t <close>, message, name = tasks.open(was.run.task, { device = dev, options = all })
    if not t then return nil, message, name end
    local shape
    shape, message, name = try_shape(result.checks, t, was.candidate, incumbent, all, how)
    if message then return nil, message, name end
    if shape then
      shapes[#shapes + 1] = shape
      result.times[#result.times + 1] = { label = shape.label, time_s = shape.facts.time_s,
        speedup = shape.facts.speedup }
    end
    if bytes_of(t.inputs) < least then least, least_at = bytes_of(t.inputs), overrides end
    first = first or { path = t.path, overrides = t.overrides, device = { info = dev.info } }
  end
  local all = assert(options_for(was, least_at))          -- it was good above
  local t <close>, message, name = tasks.open(was.run.task, { device = dev, options = all })
  if not t then return nil, message, name end
  local ok
  ok, message, name = check_sanitizer(result.checks, t, was.candidate, all)
  if ok == nil then return nil, message, name end
  return shapes, first
end

--- Promote a turn out of a record (run/restored.lua) on an open device. `how` = { into = folder, name =, shapes = list of
--- overrides besides the task's own, speedup = least, modelled = accept modelled times }. Returns { ok, checks,
--- times, ... }; nothing is written unless all passed. Or nil, message, name.
function M.run(was, dev, how)
  if not was.candidate.plan then
    return nil, "a Python candidate cannot be promoted: it has no plan that a launcher could execute", "usage"
  end
  local result = { name = how.name, run = was.run.id, turn = was.number, hash = was.candidate.hash,
    model = dev.info.model,
                   modelled = dev.info.modelled, checks = {}, times = {}, ok = true }
  local modelled = dev.info.modelled
  note(result.checks, modelled and how.modelled and "times are modelled, which --modelled allows" or "times are measured",
    not modelled or how.modelled, modelled and not how.modelled and "modelled" or "")
  local shapes, first, name = try_all(was, dev, how, result)
  if not shapes then return nil, first, name end
  for _, c in ipairs(result.checks) do result.ok = result.ok and c.ok end
  if not result.ok then return result end
  local ok, message, kind = deliver(how.into, was, shapes, first, result)
  if not ok then return nil, message, kind end
  return result
end

return M
