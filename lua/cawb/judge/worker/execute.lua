-- execute: get a candidate onto the worker and run it. The one place that knows
-- which failures are the candidate's and which the machine's. `options` are those of a run, of
-- which `deadlines` and `plan` count here.

local compile = require "cawb.gpu.compile"
local core = require "cawb.core"
local loop = require "cawb.base.loop"
local python = require "cawb.base.python"
local memory_wait = require "cawb.gpu.memory_wait"
local suggest = require "cawb.base.suggest"

local M = {}

local blamed = { candidate = true, timeout = true, died = true, unsupported = true, protocol = true }

local explain = {
  timeout = "it did not end in time (%s); is there an endless loop, or is the task too large "
    .. "for this device (its sizes are the options task.NAME, the limit is deadlines.run)?",
  died = "it took the worker process down: %s",
  protocol = "the worker that ran it was ended: %s",
}

--- A failed candidate, as data, where it is to blame; else nil, message, name. Once a worker has
--- had a candidate, its word that the machine failed is not enough: with `device`, that counts
--- only where no other worker starts there. Memory that others hold ("full", see memory_wait.lua) is no candidate's failure.
function M.failure(stage, message, name, device)
  if name == "full" then return nil, message, "memory" end
  if not blamed[name] and device and not loop.asked() then
    local ok, why, kind = device:renew()
    if not ok then return nil, why, kind end
    message = ("its worker failed (%s): %s"):format(name, message)
  elseif not blamed[name] then return nil, message, name end
  if explain[name] then message = explain[name]:format(message) end
  return { ok = false, stage = stage, reason = message, name = name }
end

-- Two names that become one define, as text; or nil.
local function collision(tunables)
  local seen = {}
  for _, t in ipairs(tunables) do
    local define = t.name:upper()
    if seen[define] then
      return ("tunables '%s' and '%s' both become the define %s: rename one")
        :format(seen[define], t.name, define)
    end
    seen[define] = t.name
  end
end

--- The tunables that a candidate's plan declares: { { name =, values = {...} }, ... }.
--- A failure as data where the plan is at fault, or nil, message, name.
function M.tunables(task, candidate, options)
  if candidate.python then
    return nil, "a Python candidate is evaluated as a whole, by run:evaluate; the primitives take kernels", "unsupported"
  end
  local request = { op = "tunables", plan = candidate.plan, inputs = task.inputs,
    outputs = task.outputs, params = task.params, limits = options.plan }
  local reply, message, name = task.device:call(request, nil, options.deadlines.load)
  if not reply then return M.failure("plan", message, name, task.device) end
  local why = collision(reply.tunables)
  if why then return { ok = false, stage = "plan", reason = why } end
  return { ok = true, tunables = reply.tunables }
end

-- What is known of a candidate on a task: the same plan may choose other values
-- for other shapes.
local function known(task, candidate)
  task.known[candidate] = task.known[candidate] or {}
  return task.known[candidate]
end

-- What was chosen, completed by the first value of every other tunable: the plan
-- uses those, and the source has to be compiled for the same ones.
local function choose(task, candidate, options)
  local declared, message, name = M.tunables(task, candidate, options)
  if not declared or not declared.ok then return nil, declared, message, name end
  local chosen, names = {}, {}
  for i, t in ipairs(declared.tunables) do chosen[t.name], names[i] = t.values[1], t.name end
  for key, value in pairs(candidate.tunables or {}) do
    if chosen[key] == nil then
      return nil, { ok = false, stage = "plan", reason = ("the plan declares no tunable '%s'%s")
        :format(key, suggest.hint(key, names)) }
    end
    chosen[key] = value
  end
  return chosen
end

--- Compile a candidate for a task: what compile.compile returns, or a failure as data of
--- its plan, or nil, message, name.
function M.build(task, candidate, options)
  local this = known(task, candidate)
  if this.built then return this.built end
  local tunables, failure, message, name = choose(task, candidate, options)
  if not tunables then return failure, message, name end
  this.built, message, name = compile.compile { source = candidate.source,
    device = task.device, defines = candidate:all_defines(tunables), options = candidate.options }
  return this.built, message, name
end

--- What a candidate that is evaluated later is built with first, by its plan: { NAME = value }, or nil where its turn will say
--- what is wrong.
function M.first_tunables(task, candidate, options)
  if candidate.python then return nil end
  return choose(task, candidate, options) or nil
end

--- Have a candidate built that is executed later, by a compiler of its own (or by that of a `number`), while another one is
--- executed: with `tunables` of M.first_tunables, or one whose plan declares none, so that it is known to what it is built.
--- What is wrong with it is said when its turn comes.
function M.build_ahead(device, candidate, number, tunables)
  if not candidate.source or not tunables and candidate.plan:find "%f[%w_]tunable" then return end
  local builder = device:ahead(number)
  loop.exclusive(builder, compile.compile, { source = candidate.source, device = builder,
    defines = candidate:all_defines(tunables or {}), options = candidate.options })
end

-- Where a value stands in a list, or nil.
local function place_of(value, list)
  for i, one in ipairs(list) do if one == value then return i end end
end

--- A candidate whose tunables are chosen, for the same task at other sizes, `there`: its own text for these, where it has one. A
--- value that is none there becomes the one at its place, which is how a plan says what follows from the shapes. Returns it; a failure as data of its plan
--- there; or nil, message, name.
function M.moved(task, there, candidate, options)
  local here, message, name = M.tunables(task, candidate, options)
  if not here or not here.ok then return here, message, name end
  local text, other = candidate.own or candidate, nil
  other, message, name = M.tunables(there, text, options)
  if not other or not other.ok then return other, message, name end
  local chosen, lists = {}, {}
  for _, t in ipairs(here.tunables) do lists[t.name] = t.values end
  for _, t in ipairs(other.tunables) do
    local value = candidate.tunables and candidate.tunables[t.name]
    local at = value ~= nil and not place_of(value, t.values) and place_of(value, lists[t.name] or {}) or 1
    chosen[t.name] = place_of(value, t.values) and value or t.values[math.min(at, #t.values)]
  end
  return { ok = true, candidate = #other.tunables > 0 and text:with(chosen) or text }
end

-- Where a Python keeps NVIDIA's libraries, for a plan that may call one on a GPU. Asking every
-- Python takes a tenth of a second each: once.
local function packages(device, plan)
  if device.info.modelled then return nil end
  if not (plan:find "%f[%w_]gemm%f[^%w_]" or plan:find "%f[%w_]conv%f[^%w_]") then return nil end
  device.library_packages = device.library_packages or python.site_packages()
  return device.library_packages
end

local function load_once(task, candidate, built, options, whole)
  local request = { op = "load", ptx = built.ptx, cubin = built.cubin,
    plan = candidate.plan, tunables = candidate.tunables, inputs = task.inputs,
    outputs = task.outputs, params = task.params, limits = options.plan, export = whole,
    packages = packages(task.device, candidate.plan) }
  local fds = task:share(request, { "params" })
  return task.device:call(request, fds, options.deadlines.load)
end

local function load(task, candidate, built, options, whole)
  local function once() return load_once(task, candidate, built, options, whole) end
  local reply, message, name = once()
  if name == "memory" then return memory_wait.again(task, options.deadlines.room, message, once) end
  return reply, message, name
end

--- Compile and load. Returns { ok = true, built =, steps = of the call, prepared = those of prepare } or a failure as data,
--- or nil, message, name.
function M.prepare(task, candidate, options)
  local built, message, name = M.build(task, candidate, options)
  if not built or not built.ok then return built, message, name end
  local device = task.device
  local loaded = device.loaded
  if loaded and loaded.candidate == candidate and loaded.task == task then return loaded end
  device.loaded = nil
  local reply
  reply, message, name = load(task, candidate, built, options)
  if not reply then return M.failure("plan", message, name, device) end
  device.loaded = { ok = true, task = task, candidate = candidate, built = built, steps = reply.steps,
                    prepared = reply.prepared, scratch = reply.scratch }
  return device.loaded
end

--- A candidate's plan as data that another program can execute (core/gpu/plan/plan.h), and what it was
--- built to: { plan =, built = }; a failure as data, or nil, message, name.
function M.export(task, candidate, options)
  local built, message, name = M.build(task, candidate, options)
  if not built or not built.ok then return built, message, name end
  task.device.loaded = nil
  local reply
  reply, message, name = load(task, candidate, built, options, true)
  if not reply then return M.failure("plan", message, name, task.device) end
  return { ok = true, plan = reply.export, built = built }
end

-- One request to the worker that has loaded what is to be executed, with the inputs of these arguments of task:fresh_inputs. Returns its
-- reply and what was loaded; a failure as data, or nil, message, name, with `asked` where the worker said that.
local function call_once(task, candidate, options, request, timeout, ...)
  local loaded, message, name = M.prepare(task, candidate, options)
  if not loaded or not loaded.ok then return loaded, message, name end
  request.poison, message, name = task:fresh_inputs(...)
  if not request.poison then return nil, message, name end
  local names = #task.params > 0 and { "inputs", "outputs", "params" } or { "inputs", "outputs" }
  local fds, reply = task:share(request, names), nil
  reply, message, name = task.device:call(request, fds, timeout)
  if reply then reply.poison, reply.steps, reply.built, reply.ok = request.poison, loaded.steps, loaded.built, true end
  return reply, message, name, true
end

--- One request that executes the loaded candidate on fresh inputs, or on those of
--- `seed`, of the kind `case` or the task's own: op "run" or "time". Returns { ok = true, ..., poison = }, a failure as
--- data, or nil, message, name.
function M.call(task, candidate, options, request, purpose, timeout, seed, case)
  local asked
  local function once()
    local reply, message, name
    reply, message, name, asked = call_once(task, candidate, options, request, timeout, purpose, seed, case)
    return reply, message, name
  end
  local reply, message, name = once()
  if name == "memory" and asked then reply, message, name = memory_wait.again(task, options.deadlines.room, message, once) end
  if not reply and asked then return M.failure("run", message, name, task.device) end
  if not reply or not reply.ok then return reply, message, name end
  local this = known(task, candidate)
  this.changed = this.changed or reply.changed
  return reply
end

--- The variables of the module that a call of a candidate has left changed, as text, or nil.
function M.changed(task, candidate) return known(task, candidate).changed end

--- Run a candidate once on fresh inputs (of the kind `case`), or on those of `seed`: its outputs
--- exist, nothing is judged. Returns { ok = true, report = counters, steps = launches }, a failure as data,
--- or nil, message, name.
function M.run(task, candidate, options, case, seed)
  return M.call(task, candidate, options, { op = "run" }, "run", options.deadlines.run, seed, case)
end

return M
