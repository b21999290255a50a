-- deliver: what a promotion leaves in its folder: a Python package that runs the plans of every shape that was
-- checked, without cawb. door/promoted/ has the parts that are the same for all.

local core = require "cawb.core"
local display = require "cawb.base.display"
local file = require "cawb.base.file"

local M = {}

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
  return ("  { .kernel = %q, .grid = %s, .block = %s, .cluster = %s, .shared = %d, .cooperative = %d, .dependent = %d,\n    .args = args_%s, .args_size = %d, .refs = refs_%s, .nrefs = %d }")
    :format(s.kernel, c_three(s.grid), c_three(s.block), c_three(s.cluster), s.shared,
      s.cooperative and 1 or 0, s.dependent and 1 or 0, id, #bytes, id, #refs)
end

-- Whether launcher.c executes a step; PyTorch does the others, calls of libraries.
local function launched(step) return step.kind == "launch" or step.kind == "fill" end

-- Both phases of a plan, those steps alone that launcher.c executes.
local function launches(plan)
  local list = {}
  for _, phase in ipairs { plan.prepare, plan.call } do
    for _, step in ipairs(phase) do if launched(step) then list[#list + 1] = step end end
  end
  return list
end

-- The number of a shape's machine code among `modules`, each once.
local function module_of(out, modules, built)
  local code = assert(file.read(built.cubin or built.ptx)) .. "\0"
  if not modules[code] then
    modules[code], modules.n = modules.n, modules.n + 1
    out[#out + 1] = ("static const unsigned char code_%d[] __attribute__((aligned(64))) = {\n%s};"):format(modules[code], c_bytes(code))
  end
  return modules[code]
end

-- The data of launcher.c: machine code and plans.
local function c_data(shapes)
  local out, modules, plans = {}, { n = 0 }, {}
  for i, s in ipairs(shapes) do
    local steps, lines = launches(s.plan), {}
    for k, step in ipairs(steps) do lines[k] = c_step(out, step, ("%d_%d"):format(i, k)) end
    out[#out + 1] = ("static const step steps_%d[] = {\n%s };   /* %s */"):format(i,
      #lines > 0 and table.concat(lines, ",\n") or "  { .kernel = NULL }", s.label)
    plans[i] = ("  { %d, steps_%d, %d }"):format(module_of(out, modules, s.built), i, #steps)
  end
  local names = {}
  for i = 0, modules.n - 1 do names[#names + 1] = "code_" .. i end
  out[#out + 1] = ("static const void *const modules[] = { %s };"):format(table.concat(names, ", "))
  out[#out + 1] = ("static const plan plans[] = {\n%s };"):format(table.concat(plans, ",\n"))
  return table.concat(out, "\n")
end

local function array(list) return core.json.array(list) end

local function tensors_of(specs)
  local list = array {}
  for i, t in ipairs(specs) do list[i] = array { t.dtype, array { table.unpack(t.shape) }, array { table.unpack(t.strides) } } end
  return list
end

local call_fields = { "kind", "a", "b", "c", "dtype", "out_dtype", "alpha", "beta", "bias", "activation", "stride", "padding",
  "dilation", "groups", "transposed", "refs" }

-- A phase as the package follows it: runs of launches, and calls of libraries. `at` counts the launches of both phases.
local function phase_of(steps, at)
  local list = array {}
  for _, step in ipairs(steps) do
    local last = list[#list]
    if not launched(step) then
      local call = {}
      for _, key in ipairs(call_fields) do call[key] = step[key] end
      list[#list + 1] = call
    elseif last and last.kind == "launch" then last.count = last.count + 1
    else list[#list + 1] = { kind = "launch", first = at, count = 1 } end
    if launched(step) then at = at + 1 end
  end
  return list, at
end

-- The tensors (from 0) that steps of a phase touch; room for a library's own work is not among them, for PyTorch has its own.
local workspace = 4
local function touched(steps)
  local set = {}
  for _, step in ipairs(steps) do
    if step.kind == "fill" then set[step.tensor] = true end
    for _, r in ipairs(step.refs or {}) do
      if step.kind == "launch" or r[1] ~= workspace then set[math.tointeger(r[2])] = true end
    end
  end
  return set
end

local function shape_of(s)
  local specs = table.move(s.params, 1, #s.params, #s.inputs + 1, table.move(s.inputs, 1, #s.inputs, 1, {}))
  local before, after = touched(s.plan.prepare), touched(s.plan.call)
  local one = { tensors = tensors_of(specs), outputs = tensors_of(s.outputs), roles = array {}, scratch = array {},
    persistent = array {}, reads = array {} }
  for k, t in ipairs(s.plan.tensors) do
    one.roles[k] = t.role
    if t.role == "scratch" then
      table.insert(one.scratch, array { k - 1, (before[k - 1] or after[k - 1]) and math.tointeger(t.bytes) or 0 })
    end
    if before[k - 1] then table.insert(t.role == "scratch" and one.persistent or one.reads, k - 1) end
  end
  local at
  one.prepare, at = phase_of(s.plan.prepare, 0)
  one.call = phase_of(s.plan.call, at)
  return one, at
end

local function about(result, task, shapes)
  local list, params, inputs, any = array {}, array {}, array {}, false
  for i, p in ipairs(shapes[1].params) do params[i] = p.name end
  for i, t in ipairs(shapes[1].inputs) do inputs[i] = t.name or false end
  for i, s in ipairs(shapes) do
    list[i] = shape_of(s)
    any = any or #launches(s.plan) > 0
  end
  local major, minor = task.arch:match "^sm_(%d+)(%d)"
  return { name = result.name, package = result.package, inputs = inputs, params = params, shapes = list, launches = any,
           otherwise = result.otherwise, constants = task.overrides, cawb = core.version,
           capability = array { math.tointeger(tonumber(major)), math.tointeger(tonumber(minor)) } }
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
  if #result.times > 0 then
    lines[#lines + 1] = "\n| shape | time | vs eager | vs compile |\n| --- | --- | --- | --- |"
    for _, t in ipairs(result.times) do
      lines[#lines + 1] = ("| %s | %s | %s | %s |"):format(t.label, display.interval(t.time_s),
        display.speedup(t.speedup.eager),
        display.speedup(t.speedup.compile))
    end
  end
  if result.quick > 0 then
    lines[#lines + 1] = ("\nThese are the ends of what was asked for. %d further shapes between them were each judged on one draw "
      .. "of every kind of input, and not timed."):format(result.quick)
  end
  if result.libraries then
    lines[#lines + 1] = "\nThe plan calls NVIDIA's libraries. In the package PyTorch makes these calls, in float32 proper; it may "
      .. "choose another algorithm than the one that was judged and timed."
  end
  lines[#lines + 1] = ("\nOther shapes, types, strides and GPUs: %s. `python3 test_promoted.py`, by a Python with PyTorch, checks the package again.")
    :format(({ reference = "the reference runs", warn = "the reference runs, and says so", refuse = "the call is refused" })[result.otherwise])
  return table.concat(lines, "\n") .. "\n"
end

local project = [[
[build-system]
requires = ["setuptools>=62.3"]
build-backend = "setuptools.build_meta"

[project]
name = "%s"
version = "0.1.0"
dependencies = ["torch>=2.4"]

[tool.setuptools]
packages = ["%s"]

[tool.setuptools.package-data]
"%s" = ["*", "neighbours/**"]
]]

-- The reference as it is judged: the task's own text where nothing in it is set from outside and it is no plain function.
local function reference(task)
  local text = assert(file.read(task.path))
  if next(task.overrides) == nil and ("\n" .. text):find "\nclass Model%W" then return text end
  return "# The task as it was judged: its constants are set, comments are gone.\n" .. task.source .. "\n"
end

-- Modules that the task imports from its own folder, by their places in the package.
local function neighbours(result, task)
  local files = {}
  for path in (result.neighbours or ""):gmatch "[^\n]+" do
    files["neighbours/" .. path] = assert(file.read((task.path:match "^(.*/)" or "") .. path))
  end
  return files
end

local function write_all(folder, files)
  local ok, message, name = core.fs.mkdir(folder)
  for one, text in pairs(files) do
    if ok then ok, message, name = core.fs.mkdir((folder .. "/" .. one):match "^(.*)/") end
    if ok then ok, message, name = file.write(folder .. "/" .. one, text) end
  end
  return ok, message, name
end

--- Write the package: `result` of promote.lua, with the folder; the candidate at the run's sizes; the shapes; `task` = { path, source, overrides, arch }.
--- Returns true, or nil, message, name.
function M.write(result, candidate, shapes, task)
  local files = neighbours(result, task)
  files["kernel.cu"], files["plan.lua"], files["reference.py"] = candidate.source, candidate.plan, reference(task)
  for name, text in pairs {
    ["candidate.json"] = core.json.encode { defines = candidate.defines, tunables = candidate.tunables,
      options = array { table.unpack(candidate.options) } } .. "\n",
    ["promoted.json"] = core.json.encode(about(result, task, shapes)) .. "\n", ["report.md"] = M.page(result) } do files[name] = text end
  local templates = core.home .. "/lua/cawb/door/promoted/"
  for _, name in ipairs { "__init__.py", "launch.py", "module.py", "test_promoted.py" } do
    files[name] = assert(file.read(templates .. name))
  end
  local head, tail = assert(file.read(templates .. "launcher.c")):match "^(.-)@DATA@(.*)$"
  files["launcher.c"] = head .. c_data(shapes) .. tail
  local ok, message, name = write_all(result.folder, files)
  if ok and result.project then
    ok, message, name = file.write(result.project .. "/pyproject.toml",
      (project:gsub("%%s", { ["%s"] = result.package })))
  end
  return ok, message, name
end

return M
