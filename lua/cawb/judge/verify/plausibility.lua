-- plausibility: what a task costs at least, whoever writes the kernel. From the operator
-- graph: bytes that must come from memory, products that must be computed; against the
-- device's ceilings. A time below that is no time.

local ceilings = require "cawb.gpu.ceilings"
local needs = require "cawb.torch.needs"

local M = {}

local function bytes_written(task)
  local total = 0
  for _, o in ipairs(task.outputs) do total = total + o.bytes end
  return total
end

-- The operations that PyTorch computes: what of these the result does not need a rewrite may leave out.
local function asked_of(graph)
  local total = 0.0
  for _, op in ipairs(graph) do total = total + (op.flops or 0) end
  return total
end

-- What does not depend on the candidate: { inputs = bytes, written = bytes, flops =, params = { [name] =
-- bytes of those that are needed }, asked = as of asked_of, spared = how most of the others can be saved }.
local function counted(task)
  local tensors, found = needs.tensors(task), { inputs = 0, written = bytes_written(task), params = {} }
  local shares = needs.shares(task.graph, task.results)
  for source, t in pairs(tensors) do
    local bytes, param = t.bytes * t.density * (shares[source] or 0), source:match "^param:(.*)"
    if param then found.params[param] = bytes else found.inputs = found.inputs + bytes end
  end
  found.flops, found.spared = needs.flops(task.graph, tensors, shares)
  found.asked = asked_of(task.graph)
  return found
end

local cache = setmetatable({}, { __mode = "k" })

-- The bytes of parameters that the steps of a call read; others have had their use before.
local function params_read(params, steps)
  local total, seen = 0, {}
  for _, step in ipairs(steps or {}) do
    for _, name in ipairs(step.reads or {}) do
      local param = name:match "^params%.(.*)"
      if param and not seen[param] then total = total + (params[param] or 0) end
      seen[param or name] = true
    end
  end
  return total
end

--- What a task costs at least, of bytes and operations: { read =, written =, flops =, asked = operations that PyTorch computes, spared = in
--- words, how most of the others can be saved }. A plan may
--- make something else of the parameters before the clock starts: they count where `steps`, a plan's
--- as rules see them, read them.
function M.costs(task, steps)
  cache[task] = cache[task] or counted(task)
  local c = cache[task]
  return { read = c.inputs + params_read(c.params, steps), written = c.written, flops = c.flops, asked = c.asked, spared = c.spared }
end

-- ---- the floor

local wider = { fp8 = "fp16", fp4 = "fp16", fp6 = "fp16", int8 = "fp16", int4 = "fp16", int1 = "fp16" }

-- Operations a second at the fastest of the precisions in use, or nil where its ceiling
-- is not known.
local function peak(limits, used)
  local best, name = limits.fp32, "float32"
  for precision in pairs(used or {}) do
    local base = wider[precision] or precision
    local rate = limits[base]
    if precision == "packed" then rate = limits.fp32 and 2 * limits.fp32 end
    if precision == "fp64" or precision == "float32" then rate = limits.fp32 end
    if not rate then return nil end
    rate = wider[precision] and rate * (precision:find "8" and 2 or 8) or rate
    if not best or rate > best then best, name = rate, precision end
  end
  return best, name
end

-- A measured rate is what one kernel reached, and no limit: three tensors that are read side by side were 4% faster on an H200.
local BETTER = 1.08

--- The least time of a task on its device, for a candidate that computes with the
--- precisions `used` ({ tf32 = true }) in `steps` (as for costs): { seconds =, memory =, compute =, launch =, read =,
--- written =, flops =, asked =, spared =, precision =, source = }; or nil and why it is not known.
function M.floor(task, used, steps)
  local limits, why = ceilings.of(task.device)
  if not limits then return nil, why end
  local costs = M.costs(task, steps)
  local rate = math.max(limits.copy, limits.read or 0) * (limits.source == "measured" and BETTER or 1)
  -- What was written may still lie in the cache when the clock stops.
  local bytes = costs.read + math.max(0, costs.written - (task.device.info.l2 or 0))
  local speed, precision = peak(limits, used)
  -- An empty kernel takes the longer the lower the clock: measured is a time, not a floor.
  local launch = task.device.info.modelled and limits.launch or limits.launch / 2
  local f = { memory = bytes / rate, compute = speed and costs.flops / speed or 0.0, launch = launch,
              precision = precision, source = limits.source, read = costs.read, written = costs.written,
              flops = costs.flops, asked = costs.asked, spared = costs.spared }
  f.seconds = math.max(f.memory, f.compute, f.launch)
  return f
end

return M
