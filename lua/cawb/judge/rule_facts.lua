-- rule_facts: what rules are told, as plain data: the candidate's text, the census of what
-- was built, the plan's steps with what each reads and writes, errors, times, floors.

local core = require "cawb.core"
local file = require "cawb.base.file"
local folder = require "cawb.judge.task.folder"
local plausibility = require "cawb.judge.verify.plausibility"
local precision = require "cawb.judge.verify.precision"

local M = {}

-- Operators that a rule is told of: an unrolled recurrence may have thousands.
local most_operators = 300

local function add_counts(to, from)
  for group, counts in pairs(from) do
    if type(counts) == "table" and group ~= "params" and group ~= "distant" then
      to[group] = to[group] or {}
      for key, n in pairs(counts) do to[group][key] = (to[group][key] or 0) + n end
    end
  end
  to.asm = (to.asm or 0) + from.asm
end

--- The census of a build, with `total` over its functions; nil where its PTX cannot be read.
function M.census(built)
  if built.census then return built.census end
  local text = built.ptx and file.read(built.ptx)
  local census = text and core.census.read(text)
  if not census then return nil end
  census.total = {}
  for _, fn in pairs(census.functions) do add_counts(census.total, fn) end
  built.census = census
  return census
end

local function numel(shape)
  local n = 1
  for _, size in ipairs(shape or {}) do n = n * size end
  return n
end

local function base(label) return label:match "^view%((.*)%)$" or label end

local entries = setmetatable({}, { __mode = "k" })        -- by census: kernels by both of their names

local function entry_of(census, name)
  if not census then return nil end
  local known = entries[census]
  if not known then
    known = {}
    for full, fn in pairs(census.functions) do
      if fn.entry then known[full], known[fn.plain] = fn, fn end
    end
    entries[census] = known
  end
  return known[name]
end

-- Whether an argument is the name of a tensor: inputs[1], params.fc.weight, view(scratch[1]).
local function is_tensor(arg) return arg:find "[%[%(]" or arg:find "^params%." end

-- The functions that a launch may come to: the kernel, and all that are no kernels.
local function within(census, fn)
  local list = { fn }
  for _, other in pairs(census and census.functions or {}) do
    if not other.entry then list[#list + 1] = other end
  end
  return list
end

-- All arguments that steps of a plan give to a kernel's parameter.
local function given(steps, census, distant)
  local list = {}
  for _, step in ipairs(steps) do
    local fn = step.kernel and entry_of(census, step.kernel)
    if fn and fn == census.functions[distant["function"]] then list[#list + 1] = step.args and step.args[distant.param] end
  end
  return list
end

local lists = setmetatable({}, { __mode = "k" })          -- by list of steps

-- The tensors that a plan's launches are given, each once.
local function arguments(steps)
  if lists[steps] then return lists[steps] end
  local list, seen = {}, {}
  for _, step in ipairs(steps) do
    for _, arg in ipairs(step.args or {}) do
      if type(arg) == "string" and not seen[arg] then list[#list + 1], seen[arg] = arg, true end
    end
  end
  lists[steps] = list
  return list
end

-- A tally of tensors by name: { [name] = { reads =, sure =, perhaps = } }.
local function note(touched, arg, use, open, sure)
  if type(arg) ~= "string" or not is_tensor(arg) then return end
  local t = touched[base(arg)] or {}
  touched[base(arg)] = t
  open = open or not use or use.escapes > 0
  local writes = use and (use.writes > 0 or use.atomics > 0)
  t.reads = t.reads or open or use.reads > 0 or use.atomics > 0
  t.sure = t.sure or writes and sure
  t.perhaps = t.perhaps or open or writes or use.maybe > 0
end

-- What a launch may read and write, by the names of tensors; `perhaps` are those written that it is
-- not sure of. A store that goes nobody knows where may go to any tensor of the plan; one through an
-- address that another kernel has left in memory goes to what that one was given.
local function launch_touches(step, steps, census)
  local fn, touched = entry_of(census, step.kernel), {}
  local open = not fn
  for i, arg in ipairs(step.args or {}) do note(touched, arg, fn and fn.params[i], not fn, true) end
  for _, one in ipairs(within(census, fn)) do
    open = open or one.unknown ~= nil
    for _, distant in ipairs(one.distant or {}) do
      for _, arg in ipairs(given(steps, census, distant)) do note(touched, arg, distant, false, one == fn) end
    end
  end
  for _, arg in ipairs(open and arguments(steps) or {}) do note(touched, arg, nil, true) end
  local reads, writes, perhaps = {}, {}, core.json.array {}
  for name, t in pairs(touched) do
    if t.reads then reads[#reads + 1] = name end
    if t.sure or t.perhaps then writes[#writes + 1] = name end
    if t.perhaps and not t.sure then perhaps[#perhaps + 1] = name end
  end
  table.sort(reads)
  table.sort(writes)
  table.sort(perhaps)
  return reads, writes, perhaps
end

-- One step with `reads`, `writes`, and `whole`: nothing is left of what was there.
local function described(step, steps, census)
  local s = {}
  for key, value in pairs(step) do s[key] = value end
  if step.kernel then
    s.reads, s.writes, s.perhaps = launch_touches(step, steps, census)
  elseif step.memset then
    s.reads, s.writes, s.whole = {}, { base(step.memset) }, not step.memset:find "^view"
  else
    s.whole = step.kind == "gemm" and (step.beta or 0) == 0
  end
  s.reads, s.writes = core.json.array(s.reads or {}), core.json.array(s.writes or {})
  return s
end

-- Whether what a step writes can still be seen in an output, from the last step to the first.
local function mark_dead(steps, outputs)
  local live = {}
  for i = 1, outputs do live[("outputs[%d]"):format(i)] = true end
  for i = #steps, 1, -1 do
    local step, useful = steps[i], false
    for _, t in ipairs(step.writes) do useful = useful or live[t] end
    step.dead = not useful
    if useful then
      if step.whole then for _, t in ipairs(step.writes) do live[t] = nil end end
      for _, t in ipairs(step.reads) do live[t] = true end
    end
  end
end

local function described_all(steps, census)
  local list = core.json.array {}
  for i, step in ipairs(steps or {}) do list[i] = described(step, steps, census) end
  return list
end

--- A plan's steps as rules see them, those of prepare, and counts: { steps, prepared, launches, libraries, launched = how often, prepare
--- counted, by kernel }.
function M.plan(steps, census, outputs, prepared)
  local plan = { steps = described_all(steps, census), prepared = described_all(prepared, census), launches = 0, libraries = 0, launched = {} }
  local all = table.move(plan.steps, 1, #plan.steps, #plan.prepared + 1, table.move(plan.prepared, 1, #plan.prepared, 1, {}))
  for _, s in ipairs(all) do
    if s.kernel then plan.launched[s.kernel] = (plan.launched[s.kernel] or 0) + 1 end
  end
  for _, s in ipairs(plan.steps) do
    if s.kernel then plan.launches = plan.launches + 1 elseif not s.memset then plan.libraries = plan.libraries + 1 end
  end
  mark_dead(all, outputs)
  return plan
end

-- Comments as spaces, literals as empty: what is left to be looked for words in.
local function bare(text)
  local out, i = {}, 1
  while i <= #text do
    local two = text:sub(i, i + 1)
    local c = two:sub(1, 1)
    local stop
    if two == "//" then stop = (text:find("\n", i, true) or #text + 1) - 1
    elseif two == "/*" then stop = select(2, text:find("*/", i + 2, true)) or #text
    elseif c == '"' or c == "'" then
      stop = i + 1
      while stop <= #text and text:sub(stop, stop) ~= c and text:sub(stop, stop) ~= "\n" do
        stop = stop + (text:sub(stop, stop) == "\\" and 2 or 1)
      end
      out[#out + 1] = c .. c
    end
    if stop then
      i = stop + 1
      if two:sub(1, 1) == "/" then out[#out + 1] = " " end
    else
      local last = (text:find("[/\"']", i + 1) or #text + 1) - 1
      out[#out + 1] = text:sub(i, last)
      i = last + 1
    end
  end
  return table.concat(out)
end
M.bare = bare

local function source_facts(candidate)
  return { text = candidate.source, code = bare(candidate.source), plan = candidate.plan,
           options = core.json.array { table.unpack(candidate.options) }, defines = candidate.defines }
end

local function task_facts(task)
  local graph = core.json.array {}
  for i = 1, math.min(#task.graph, most_operators) do
    local op = task.graph[i]
    graph[i] = { op = op.op, name = op.name, kind = op.kind, flops = op.flops, bytes_read = op.bytes_read,
                 bytes_written = op.bytes_written }
  end
  local function shapes(list)
    local out = core.json.array {}
    for i, spec in ipairs(list) do
      out[i] = { shape = spec.shape and core.json.array { table.unpack(spec.shape) }, dtype = spec.dtype,
                 bytes = spec.bytes }
    end
    return out
  end
  return { name = task.name, graph = graph, inputs = shapes(task.inputs), outputs = shapes(task.outputs),
           params = shapes(task.params), forbidden = core.json.array { table.unpack(task.forbidden or {}) } }
end

local function has(stages, stage)
  for _, s in ipairs(stages) do if s == stage then return true end end
  return false
end

-- What each operator of the task takes of it at least, as shares of the whole; and how many elements
-- it is given. By the figures of an H100: it is about what is heavy beside what.
local function shares(task)
  local list, all = {}, 0
  for i, op in ipairs(task.graph) do
    local time = math.max(((op.bytes_read or 0) + (op.bytes_written or 0)) / 3e12, (op.flops or 0) / 6e13)
    local elements = 0
    for _, t in ipairs(op.inputs or {}) do elements = elements + numel(t.shape) end
    list[i], all = { op = op.op, name = op.name, kind = op.kind, time = time, elements = elements }, all + time
  end
  local found = {}
  for _, one in ipairs(list) do
    local f = found[one.name] or { name = one.name, kind = one.kind, share = 0.0, elements = 0 }
    found[one.name] = f
    f.share, f.elements = f.share + (all > 0 and one.time / all or 1.0), math.max(f.elements, one.elements)
  end
  local out = core.json.array {}
  for _, f in pairs(found) do out[#out + 1] = f end
  table.sort(out, function(a, b) return a.name < b.name end)
  return out
end

-- Numbers as JSON holds them: no NaN, no infinity, no integer that a double has not.
local function plain(value)
  if math.type(value) == "integer" and (value > 1 << 53 or value < -(1 << 53)) then return value + 0.0 end
  if type(value) == "number" and (value ~= value or value == math.huge or value == -math.huge) then
    return tostring(value)
  elseif type(value) ~= "table" then
    return value
  end
  local t = {}
  for k, v in pairs(value) do t[k] = plain(v) end
  return setmetatable(t, getmetatable(value))
end

--- What is known of a candidate at some stages. `facts` are evaluate.one's; of `options`, `verify`
--- says how large a task may be that is asked for its precision.
function M.new(task, candidate, facts, stages, options)
  local census = facts.built and M.census(facts.built)
  local told = { task = task_facts(task), stage = stages[#stages],
    device = { name = task.device.info.name, modelled = task.device.info.modelled, l2 = task.device.info.l2, arch = task.device.info.arch,
               protects = task.device.info.protects } }
  if has(stages, "source") then told.source = source_facts(candidate) end
  told.compiled = census and { functions = census.functions, variables = census.variables, total = census.total,
                               lost = census.lost, kernels = facts.kernels, options = core.json.array { table.unpack(candidate.options) } }
  told.plan = M.plan(facts.steps, census, #task.outputs, facts.prepared)
  if facts.python then told.python = { census = facts.python.census, text = folder.joined(candidate.python, candidate.files), work = facts.python.work } end
  told.precision = facts.error and precision.of(task, facts, census, options.verify)
  told.verify = facts.error and { error = facts.error, trials = #(facts.trials or {}),
                                  report = facts.report, repeatable = facts.repeatable, battery = facts.battery }
  told.timing = facts.time_s and { time_s = facts.time_s, speedup = facts.speedup,
    samples = core.json.array { table.unpack(facts.samples or {}) }, launch_bound_s = facts.launch_bound_s }
  told.counted, told.changed = facts.counted, facts.changed
  if has(stages, "work") and facts.python then told.shares = shares(task) end
  if has(stages, "plausibility") then
    told.floor = plausibility.floor(task, precision.used(census, facts.steps), told.plan.steps)
    told.costs = plausibility.costs(task, told.plan.steps)
    facts.floor = told.floor
  end
  return plain(told)
end

return M
