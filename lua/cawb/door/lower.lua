-- lower: recorded operators in, a package out: kernels as files of PTX and machine code, launches as data. The backend of
-- torch.compile asks for it, through `cawb lower`. A request has the task host's record of a graph (python/cawb_host/torch/recorder.py).

local compile = require "cawb.gpu.compile"
local compose = require "cawb.compose.candidate"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local operators = require "cawb.compose.operators.operators"
local tasks = require "cawb.judge.task.task"

local M = {}

-- What is tried, one after the other: the whole compiler, and every operator in a kernel of its own.
local ways = { {}, { fuse = false } }

local function list(t) return core.json.array(t or {}) end

-- What compose takes for a task.
local function task_of(device, request)
  local graph = tasks.without_views(request.graph)
  return { graph = graph, memory = request.memory, inputs = list(request.inputs), outputs = list(request.outputs),
           params = list(request.params), device = device }
end

-- A candidate; or nil and why there is none. A mistake in compose concerns this graph alone.
local function make(task, request, way)
  local fine, made, why = pcall(compose.make, task, { arch = task.device.info.arch, sms = request.sms, memory = request.bytes, libraries = false,
                                                      gradients = request.gradients, fuse = way.fuse })
  if not fine then return nil, "a mistake in the compiler: " .. tostring(made):match "[^\n]*" end
  return made, why
end

-- Launches, tensors and scratch as data. A worker that counts blocks has no data, so it takes none and needs no memory.
local function export(task, made, built)
  local reply, message = task.device:sampled(1):call({ op = "load", ptx = built.ptx, cubin = built.cubin, plan = made.plan, inputs = task.inputs,
    outputs = task.outputs, params = task.params, limits = defaults.plan, export = true }, nil, defaults.deadlines.load)
  return reply and reply.export, message
end

local function package(task, request, way)
  local begin <const> = core.clock.now()
  local made, why = make(task, request, way)
  if not made then return { ok = false, reason = why, name = "unsupported" } end
  local lowered <const> = core.clock.now()
  local built, message = compile.compile { source = made.source, device = task.device, options = made.options }
  if not built then return { ok = false, reason = message, name = "machine" } end
  if not built.ok then return { ok = false, reason = "its kernels do not compile: " .. built.reason, name = "compile" } end
  local data, trouble = export(task, made, built)
  if not data then return { ok = false, reason = "its plan does not load: " .. tostring(trouble), name = "plan" } end
  return { ok = true, source = made.source, plan = made.plan, options = list(made.options), ptx = built.ptx, cubin = built.cubin,
           arch = task.device.info.arch, export = data,
           seconds = { lowering = lowered - begin, ["machine code"] = core.clock.now() - lowered } }
end

--- What is to be known ahead of any graph.
function M.hello(device)
  return { ok = true, version = core.version, model = device.info.model, arch = device.info.arch, figures = device.figures,
           operators = list(operators.names()) }
end

--- The package of one graph, { ok = true, source, plan, ptx, cubin, export, seconds = { lowering, ["machine code"] } }, or { ok = false, reason, name }.
--- `request`: graph, memory, inputs, outputs, params as the task host describes them; sms and bytes of the device, where known; gradients:
--- whether it computes these (candidate.lua). The reason is that of the first way.
function M.package(device, request)
  local task, first = task_of(device, request), nil
  for _, way in ipairs(ways) do
    local reply = package(task, request, way)
    if reply.ok or reply.name == "machine" then return reply end
    first = first or reply
  end
  return first
end

--- For each of many graphs whether compose takes it: false, or why not.
function M.refusals(device, requests)
  local found = list {}
  for i, request in ipairs(requests) do
    local made, why = make(task_of(device, request), request, ways[1])
    found[i] = not made and why or false
  end
  return { ok = true, refusals = found }
end

return M
