-- sizes: the batch with which a task takes about as long as it is to, in eager PyTorch on a device of
-- published rates (modelled), and within what a tensor and a task may have.

local graphs = require "cawb.learn.synth.graphs"
local modelled = require "cawb.torch.modelled"
local wire = require "cawb.base.wire"

local M = {}

local TRIES = 5
local widths = { float64 = 8, int64 = 8, float32 = 4, int32 = 4, float16 = 2, bfloat16 = 2, int16 = 2 }

local function largest_of(graph)
  local most = 0
  for _, op in ipairs(graph) do
    for _, list in ipairs { op.inputs, op.outputs or {} } do
      for _, tensor in ipairs(list) do
        local bytes = widths[tensor.dtype] or 1
        for _, size in ipairs(tensor.shape) do bytes = bytes * size end
        most = math.max(most, bytes)
      end
    end
  end
  return most
end

local function flops_of(graph)
  local flops = 0.0
  for _, op in ipairs(graph) do flops = flops + op.flops end
  return flops
end

--- What a task is with a batch on a device of this `info`: { batch =, graph = of graphs.lua, eager_s =, compile_s =, bytes =, flops =, largest = bytes
--- of a tensor }, or nil, message, name.
function M.look(host, path, batch, info, seconds)
  local sketch, message, name = host:call({ op = "sketch", path = wire.path(path), overrides = { batch_size = batch },
    init_seed = 42 }, { timeout = seconds })
  if not sketch then return nil, message, name end
  local graph = graphs.of(sketch)
  local times = modelled.times(graph.ops, info.rates, info.sms, sketch.memory)
  return { batch = batch, graph = graph, eager_s = times.eager, compile_s = times.compile, bytes = sketch.bytes, flops = flops_of(graph.ops),
           largest = largest_of(sketch.graph), outputs = sketch.outputs, constants = sketch.task.constants }
end

--- The nearest batch of the form 2^k or 3 * 2^k.
function M.round(batch)
  local best = 1
  local power = 1
  while power <= 2 * batch do
    for _, n in ipairs { power, 3 * power } do
      if math.abs(math.log(n / batch)) < math.abs(math.log(best / batch)) then best = n end
    end
    power = power * 2
  end
  return best
end

-- The largest factor by which a batch may grow.
local function room(found, how)
  return math.min(how.tensor / math.max(1, found.largest), how.bytes / math.max(1, found.bytes), how.batches / found.batch)
end

--- The task with the batch that comes nearest to `target` seconds, as `look` has it; or nil, message, name.
function M.fit(host, path, target, info, how)
  local found, message, name = M.look(host, path, 64, info, how.seconds)
  for _ = 1, TRIES do
    if not found or not found.eager_s then return found, message, name end
    local factor = math.min(target / found.eager_s, room(found, how))
    local batch = M.round(math.max(1, found.batch * factor))
    if batch > found.batch * room(found, how) then batch = batch > 2 and math.max(1, batch * 2 // 3) or 1 end
    if batch == found.batch then break end
    found, message, name = M.look(host, path, batch, info, how.seconds)
  end
  return found, message, name
end

-- A size divided so often by two, as long as something of it stays.
local function halved(value, times)
  for _ = 1, times do
    if value % 2 ~= 0 or value < 16 then break end
    value = value // 2
  end
  return value
end

--- Constants to override, so that a task is small: the batch given, the others halved together, as few times as will do. nil
--- where they do not go together, or stay too large. Few questions, where cawb.judge.task.scale asks for each size by itself.
function M.shrink(host, path, constants, batch, how)
  for times = 0, 6 do
    local overrides = { batch_size = batch }
    for name, value in pairs(constants) do
      if name ~= "batch_size" and math.type(value) == "integer" then overrides[name] = halved(value, times) end
    end
    local sketch = host:call({ op = "sketch", path = wire.path(path), overrides = overrides, init_seed = 42 }, { timeout = how.seconds })
    if sketch and sketch.bytes <= how.memory and flops_of(sketch.graph) <= how.operations then return overrides end
  end
end

return M
