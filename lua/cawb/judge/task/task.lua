-- task: a task.py, held by a task host. It makes secret inputs, knows the right
-- outputs, and compares what a candidate wrote with them.

local compile = require "cawb.gpu.compile"
local core = require "cawb.core"
local file = require "cawb.base.file"
local defaults = require "cawb.base.defaults"
local kinds = require "cawb.gpu.kinds"
local loop = require "cawb.base.loop"
local options = require "cawb.base.options"
local traits = require "cawb.torch.traits"
local place = require "cawb.base.place"
local python = require "cawb.base.python"
local scale = require "cawb.judge.task.scale"
local seeds = require "cawb.base.seeds"
local wire = require "cawb.base.wire"

local M = {}

---@class cawb.Task
local Task = {}
Task.__index = Task
Task.__name = "cawb.task"

-- After these the process at the other end is gone, or of no use any more.
local fatal = { timeout = true, died = true, protocol = true, io = true, interrupted = true }
local broken = { memory = true, device = true }

-- What nobody else may disturb on a GPU.
local timed = { baselines = true, python_open = true, python_round = true, python_shared = true }

-- What is counted apart for each kind of inputs.
local drawn = { inputs = true, compare = true }

--- One request to the task host, with descriptors, and seconds that it may take beyond the
--- deadline: its reply, or nil, message, name. `lost` is the message then, where another task host may
--- do what this one cannot.
function Task:ask(request, fds, more)
  if not self.host then return nil, "the task is closed", "died" end
  local reply, message, name = self.device:with_others(timed[request.op] == true, loop.call, self.host, request,
    { timeout = self.deadline + (more or 0), fds = fds, part = drawn[request.op] and self.drawn })
  if reply then return reply end
  if (fatal[name] or broken[name]) and name ~= "interrupted" then self.lost = message end
  if fatal[name] then self:close() end
  return nil, message, name
end

-- Shares in a reply, by name; descriptors come in this order.
local function take_shares(reply)
  local shares, fd = {}, 0
  for _, name in ipairs { "params", "inputs", "outputs" } do
    local share = reply[name .. "_share"] or { size = 0 }
    if not share.ipc and reply.fds then
      fd = fd + 1
      share.fd = reply.fds[fd]
    end
    shares[name] = share
  end
  return shares
end

--- Enter the named shares into a request to the worker; returns its descriptors.
function Task:share(request, names)
  local fds = {}
  for _, name in ipairs(self.sketched and {} or names) do
    local share = self.shares[name]
    local entry = { size = share.size, ipc = share.ipc }
    if share.fd and not share.ipc then
      entry.fd = #fds
      fds[#fds + 1] = share.fd
    end
    request[name .. "_share"] = entry
  end
  return fds
end

--- From here on secrets are those of one more evaluation of this candidate (its hash): they follow from the
--- task's seed and from how often it was evaluated, not from what was evaluated before it.
function Task:begin_evaluation(hash)
  self.evaluated[hash] = (self.evaluated[hash] or 0) + 1
  self.next_seed = seeds.generator(("%s:%s:%d"):format(self.seed, self.shared or hash, self.evaluated[hash]))
  self.finite = nil
end

--- Secrets of the evaluations that come now follow from another seed.
function Task:reseed(seed) self.seed, self.evaluated = seed, {} end

--- From here on candidates have the same secrets: a compiler's, which nobody writes to pass. Inputs and references are made once then.
function Task:share_secrets() self.shared = "shared" end

--- What outputs are to be filled with: one call NaN, the next a number.
function Task:new_poison()
  self.finite = not self.finite
  return seeds.poison(self.next_seed, self.finite)
end

--- New inputs from a secret seed (or from a given one, to have them again), and
--- outputs filled with poison. `case` is a kind of inputs other than the task's own. Returns
--- the poison, or nil, message, name ("refused": the task's own reference takes none of this kind).
function Task:fresh_inputs(purpose, seed, case)
  local poison = self:new_poison()
  if self.sketched then return poison end
  self.drawn = case and case:match "^%a+"
  local reply, message, name =
    self:ask { op = "inputs", seed = seed or self.next_seed(purpose), poison = poison, case = case }
  if not reply then return nil, message, name end
  if reply.refused then return nil, reply.refused, "refused" end
  return poison
end

--- What was written to the outputs, against the references for these inputs, in each of
--- the first `slots` copies of them (default: one): { slots = { { statistics, ... } },
--- reference = "float64", changed = { names } }, or nil, message, name.
function Task:compare(poison, slots)
  local reply, message, name = self:ask { op = "compare", poison = poison, slots = slots or 1 }
  if not reply then return nil, message, name end
  reply.slots = reply.slots or { reply.outputs }
  for _, outputs in ipairs(reply.slots) do
    for i, o in ipairs(outputs) do o.typical = self.outputs[i].typical end
  end
  return reply
end

--- The first values of a tensor: { which = "inputs"|"outputs"|"reference"|"eager",
--- index = 1, count = 8, offset = 0 }. For looking, not for judging.
function Task:peek(what)
  local reply, message, name = self:ask { op = "peek", what = what.which or "outputs",
    index = what.index or 1, count = what.count or 8, offset = what.offset or 0 }
  if not reply then return nil, message, name end
  return reply.values
end

--- End the task host; one that was lent for this task forgets it.
function Task:close()
  if not self.host then return end
  for _, rival in pairs(self.rivals or {}) do
    for _, worker in ipairs { rival, table.unpack(rival.more or {}) } do worker:close() end
  end
  for _, other in pairs(self.beside or {}) do other:close() end
  self.rivals = nil
  if self.device.loaded and self.device.loaded.task == self then self.device:forget() end
  if self.own and self.own.device.loaded then self.own.device:forget() end
  if not self.lent then self.host:close()
  elseif self.host:alive() then
    self.host:call({ op = "unload" }, { timeout = self.deadline })
  end
  self.host = nil
end
Task.__close = Task.close
Task.__gc = Task.close

function Task:__tostring()
  return ("cawb.task (%s on %s)"):format(self.name, self.device.info.name)
end

local function numel(shape)
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  return n
end

-- The share of what it looks at that a view shows at least, or nil for all of it.
local function shown(op, from)
  if not traits.picks(op, op.inputs[1]) then return from.share end
  local least = traits.of(op, "gathers") and 1 or 0
  for _, output in ipairs(op.outputs) do
    least = math.min(least, numel(output.shape) / math.max(1, numel(op.inputs[1].shape)))
  end
  return least * (from.share or 1)
end

--- Views move no bytes and cost nothing: a graph without them says what is done. What was made
--- from a view was made from the tensor that it looks at; `view` names one that shows a part of
--- it, or another order, and `share` is how much of it is seen, where that is not all. `sources`
--- are what made the outputs; returns the graph, and for each output { source =, share = } behind views.
function M.without_views(graph, sources)
  local list, behind, results = {}, {}, {}
  for number, op in ipairs(graph or {}) do
    for _, input in ipairs(op.inputs) do
      local from = behind[input.source]
      if from then input.source, input.view, input.share = from.source, from.view, from.share end
    end
    if op.kind == "view" then
      local from = op.inputs[1]
      behind["op:" .. number] = from and { source = from.source, share = shown(op, from),
                                           view = from.view or not traits.of(op, "in_order") and op.op or nil }
    else
      op.number = number
      list[#list + 1] = op
    end
  end
  for i, source in ipairs(sources or {}) do results[i] = behind[source] or { source = source } end
  return list, sources and results
end

-- Nothing can be judged against an output that is another one the next time, nor
-- against one that any constant gets right.
local function unjudgeable(reply)
  local what = reply.constant and "the output says nothing of the inputs"
    or (not reply.deterministic or reply.random) and "the output is not deterministic"
  return what and ("%s:%d: %s: %s"):format(reply.task.path, reply.task.forward_line, what,
    table.concat(reply.notes or {}, "; "))
end

-- The library that makes the statistics of what is on a processor, of a build tree and of an install tree.
local function judge_library() return (core.program:match "^(.*)/[^/]+/[^/]+$" or ".") .. "/lib/libcawb_native.so" end

-- What judges outputs on a GPU: kernels, built like any other; elsewhere there is nothing to build.
local function judge_kernels(device)
  if not kinds.of(device).gpu then return { ok = true } end
  local path = core.home .. "/core/judge/statistics/judge.cu"
  local source, message, missing = file.read(path)
  if not source then return nil, message, missing end
  local built, why, name = compile.compile { source = source, device = device }
  if built and not built.ok then return nil, ("%s: %s"):format(path, built.reason), "missing" end
  return built, why, name
end

-- The baselines that torch.compile makes, of those that are timed in turns and of those that are timed once.
local function compiled_kinds(how)
  local list = core.json.array {}
  for _, kinds_of in ipairs { how.against, how.matrix } do
    for _, kind in ipairs(kinds_of) do
      local name = type(kind) == "string" and kind:gsub("_tf32$", "")
      if name == "compile" or name == "max_autotune" then list[#list + 1] = kind end
    end
  end
  return list
end

--- What a task on this device will want of a task host, ahead of its loading: next to nothing of
--- it computes there, so that it disturbs nobody who measures. `threads`: processes that torch.compile may use. Returns true, or nil, message, name.
function M.prepare(host, device, all, threads)
  local built, message, name = judge_kernels(device)
  if not built then return nil, message, name end
  local ready
  ready, message, name = loop.call(host, { op = "prepare", device = kinds.torch_device(device),
    compile = #compiled_kinds(all.measure) > 0, threads = threads }, { timeout = all.deadlines.start })
  return ready and true, message, name
end

--- Have PyTorch compile the task in a file before its turn on this device has come, where it is to be timed so: without data,
--- and without computing there, but for what max-autotune tries out, which waits for its turn by the `lock` of those who measure. What is
--- not done ahead is done when it is timed.
function M.compile_ahead(host, path, device, all, lock)
  local full, list = core.fs.realpath(place.file(path)), compiled_kinds(all.measure)
  if not (full and all.measure.ahead and kinds.of(device).gpu and #list > 0) then return end
  loop.call(host, { op = "ahead", path = wire.path(full), overrides = all.task, init_seed = 42, kinds = list,
    lock = lock and wire.path(lock), device = kinds.torch_device(device) }, { timeout = all.deadlines.task })
end

-- What the task host says of a task, loaded or, for a `look` at it, only sketched.
local function load(host, path, device, opts, weights_seed, look)
  if look then
    return loop.call(host, { op = "sketch", path = wire.path(path), overrides = opts.task, init_seed = 42,
      device = kinds.torch_device(device) }, { timeout = opts.deadlines.task })
  end
  if scale.mode(device, opts) == "full" then
    if device.simulate.blocks == 0 then
      return nil, "scale.mode is 'full', but the device executes whole grids: set simulate.blocks", "invalid"
    end
    return loop.call(host, { op = "sketch", path = wire.path(path), overrides = opts.task, init_seed = 42 },
      { timeout = opts.deadlines.task })
  end
  local judge, message, name = judge_kernels(device)
  if not judge then return nil, message, name end
  return device:with_others(false, loop.call, host, { op = "load", path = wire.path(path), device = kinds.torch_device(device), judge = judge.cubin,
    native = judge_library(),
    overrides = opts.task, init_seed = 42, weights_seed = opts.verify.weights == "drawn" and weights_seed or nil },
    { timeout = opts.deadlines.task })
end

-- The task at its own sizes, beside one that was shrunk: on a device that executes some blocks of each launch, which is
-- asked for times and has no data.
local function at_own_sizes(task, device, all)
  local sketch = task.scaled.own
  local own = { device = device:sampled(all.scale.both.blocks), deadline = task.deadline, options = all, name = task.name,
    path = task.path, info = sketch.task, forbidden = sketch.task.forbidden, density = sketch.density, products = sketch.products, memory = sketch.memory, notes = {},
    sketched = true, next_seed = task.next_seed, baselines = task.baselines, known = setmetatable({}, { __mode = "k" }), places = sketch.places }
  own.graph, own.results = M.without_views(sketch.graph, sketch.sources)
  own.inputs, own.outputs, own.params = sketch.inputs, sketch.outputs, sketch.params
  return setmetatable(own, Task)
end

-- What belongs to a task host, from its answer: where tensors lie.
local function placed(self, reply)
  self.inputs, self.outputs, self.params = reply.inputs, reply.outputs, reply.params
  self.shares, self.slots, self.outputs_stride = take_shares(reply), reply.slots or 1, reply.outputs_stride or 0
  return self
end

local function table_with(t, more)
  local new = {}
  for k, v in pairs(t) do new[k] = v end
  for k, v in pairs(more) do new[k] = v end
  return new
end

-- What is said of times where they are not those of the sizes that are verified.
local function timed_apart(device, all)
  if scale.mode(device, all) ~= "both" then return "" end
  return ("; verified so, and timed at its own sizes on %d blocks of each launch"):format(all.scale.both.blocks)
end

--- Load a task for a device. `opts`: { device = required, seed = hex digits,
--- options = a full table of options, task = overrides of module constants, host =
--- { process, hello } of python.start, lent for one task at a time, look = true for shapes and the op graph alone,
--- which take no memory and a part of a second, sizes = one of the task's `judged_at` }.
--- Returns the task, or nil, message, name ("task": the file is at fault).
function M.open(path, opts)
  if type(opts) ~= "table" or not opts.device then
    error("task: pass { device = cawb.device(...) }", 2)
  end
  local all = opts.options or options.copy(defaults)
  if opts.task then for k, v in pairs(opts.task) do all.task[k] = v end end
  local given = all.task
  if opts.sizes then all.task = table_with(given, opts.sizes) end
  local full, message, name = core.fs.realpath(place.file(path))
  if not full then return nil, message, name end
  local host, hello, why = table.unpack(opts.host or { python.start(all.deadlines.start) })
  if not host then return nil, hello, why end
  local scaled
  if scale.shrinks(scale.mode(opts.device, all)) then scaled = scale.fit(host, full, opts.device, all, given) end
  local sketched, reply = opts.look or scale.mode(opts.device, all) == "full", nil
  local seed = opts.seed or seeds.fresh(seeds.are_given() and file.read(full) or nil)
  local next_seed = seeds.generator(seed)
  local weights_seed = next_seed "weights"
  reply, message, name = load(host, full, opts.device, all, weights_seed, opts.look)
  if reply and not sketched and unjudgeable(reply) then reply, message, name = nil, unjudgeable(reply), "task" end
  if not reply then
    if not opts.host then host:close() end
    return nil, message, name
  end
  reply.notes = reply.notes or {}
  if scaled and scaled.text then table.insert(reply.notes, 1, scaled.text .. timed_apart(opts.device, all)) end
  local graph, results = M.without_views(reply.graph, reply.sources)
  local task = setmetatable(placed({
    host = host, lent = opts.host ~= nil, python = hello, device = opts.device, deadline = all.deadlines.task,
    overrides = all.task, options = all,
    name = reply.task.name, path = full, info = reply.task, forbidden = reply.task.forbidden, graph = graph, results = results, density = reply.density,
    products = reply.products, memory = reply.memory, notes = reply.notes,
    alters = reply.alters or {},
    scaled = scaled, sketched = sketched or nil,
    given = given, judged_at = not opts.sizes and reply.task.judged_at or nil, beside = {},      -- see run/many_sizes.lua
    seed = seed, next_seed = next_seed, evaluated = {}, weights_seed = weights_seed, varied = reply.varied, unseen = reply.unseen, places = reply.places, baselines = {},
    known = setmetatable({}, { __mode = "k" }),    -- by candidate; see device/execute.lua
  }, reply), Task)
  if not sketched and scaled and scaled.text and scale.mode(opts.device, all) == "both" then task.own = at_own_sizes(task, opts.device, all) end
  return task
end

--- Start another task host for this task and have it loaded there, once one was lost: true, or nil,
--- message, name. Inputs and references are new ones; what was timed stays.
function Task:revive()
  if self.host then self.host:kill() end          -- it may be alive, and of no use
  self:close()
  local host, hello, why = python.start(self.options.deadlines.start)
  if not host then return nil, hello, why end
  local reply, message, name = load(host, self.path, self.device, self.options, self.weights_seed)
  if not reply then
    host:close()
    return nil, message, name
  end
  self.host, self.lent, self.python, self.lost = host, false, hello, nil
  placed(self, reply)
  return true
end

return M
