-- plausibility: what a task costs at least, whoever writes the kernel. From the operator
-- graph: bytes that must come from memory, products that must be computed; against the
-- device's ceilings. A time below that is no time. Where cheap tricks exist (structure in
-- the inputs, associativity, fast convolutions) the floor gives way: it may be too low,
-- never too high.

local ceilings = require "cawb.device.ceilings"

local M = {}

local picking = { "slice", "select", "narrow", "split", "chunk", "unbind", "diagonal", "index",
                  "gather", "embedding", "take", "where", "masked", "pool", "unfold", "as_strided",
                  "nll_loss", "topk", "scatter" }

--- Whether an operator may leave a part of its inputs unread.
function M.picks(op)
  local name = op.op or ""
  for _, word in ipairs(picking) do
    if name:find(word, 1, true) then return true end
  end
  return false
end

-- Whether a place of the window meets padding alone, wherever the window stands in this dimension.
local function is_idle(tap, size, places, stride, padding, dilation)
  for at = 0, places - 1 do
    local from = at * stride - padding + tap * dilation
    if from >= 0 and from < size then return false end
  end
  return true
end

-- A convolution whose steps are longer than its window leaves gaps in the image; a small image
-- leaves places of the window unused.
local function has_gaps(op)
  local args, weight = op.args, op.inputs[2]
  if op.kind ~= "convolution" or not weight or type(args.stride) ~= "table" then return false end
  for i, stride in ipairs(args.stride) do
    local window, size, places = weight.shape[i + 2] or 1, op.inputs[1].shape[i + 2], op.outputs[1].shape[i + 2]
    if stride > window then return true end
    local last = not args.transposed and places and { 0, window - 1 } or {}
    for _, tap in ipairs(last) do
      if is_idle(tap, size, places, stride, args.padding[i], args.dilation[i]) then return true end
    end
  end
  return false
end

-- Tensors by their source ("input:1", "param:fc.weight"): { bytes =, density = }.
local function tensors_of(task)
  local found, leaf = {}, 0
  local function add(name, spec)
    if spec.items then
      for _, item in ipairs(spec.items) do add(name, item) end
    elseif spec.dtype then
      leaf = leaf + 1
      local t = found[name] or { bytes = 0, density = 1 }
      t.bytes = t.bytes + spec.bytes
      t.density = math.min(t.density, task.density and task.density.inputs[leaf] or 1)
      found[name] = t
    end
  end
  for i, spec in ipairs(task.inputs) do add("input:" .. i, spec) end
  for _, spec in ipairs(task.params) do
    local d = task.density and task.density.params[spec.name] or 1
    found["param:" .. spec.name] = { bytes = spec.bytes, density = d }
  end
  return found
end

-- Sources that some operator needs in full. `picked` ones are needed in part by a view.
local function needed(task)
  local all, partly = {}, {}
  for source in pairs(task.picked or {}) do partly[source] = true end
  for _, op in ipairs(task.graph) do
    for _, input in ipairs(op.inputs) do
      all[input.source] = true
      if M.picks(op) or has_gaps(op) then partly[input.source] = true end
    end
  end
  for source in pairs(partly) do all[source] = nil end
  return all
end

local function bytes_read(task)
  local total, need = 0, needed(task)
  for source, t in pairs(tensors_of(task)) do
    if need[source] then total = total + t.bytes * t.density end
  end
  return total
end

local function bytes_written(task)
  local total = 0
  for _, o in ipairs(task.outputs) do total = total + o.bytes end
  return total
end

-- ---- products

local linear = { add = true, sub = true, rsub = true, mul = true, div = true, neg = true, sum = true, mean = true,
                 cat = true, clone = true, copy = true, _to_copy = true, cumsum = true, mm = true, bmm = true,
                 addmm = true, baddbmm = true, convolution = true, native_batch_norm = true }

local function name_of(op) return (op.op or ""):match "^%w+%.([%w_]+)" or "" end

local function is_product(op) return op.kind == "matmul" or op.kind == "convolution" end

-- Operators whose arithmetic might be saved: a product whose result goes, by linear steps
-- alone, into a sum or another product can be reordered: sum(x W) = x sum(W).
local function reorderable(graph)
  local from, exempt = {}, {}                  -- products that each result is linear in
  for _, op in ipairs(graph) do
    local name, reached = name_of(op), {}
    for _, input in ipairs(op.inputs) do
      for product in pairs(from[input.source] or {}) do reached[product] = true end
    end
    local joins = is_product(op) or op.kind == "reduction" and linear[name] or name == "cumsum"
    for product in pairs(reached) do
      if joins then exempt[product] = true end
      if is_product(op) then exempt[op] = true end
    end
    if not linear[name] then reached = {} end
    if is_product(op) then reached[op] = true end
    from["op:" .. op.number] = reached
  end
  return exempt
end

-- The share of a result's elements that can differ from zero, where its maker says so.
local function density_of(source, tensors, graph)
  if tensors[source] then return tensors[source].density end
  for _, op in ipairs(graph) do
    if "op:" .. op.number == source then
      local name, shape = name_of(op), op.outputs[1] and op.outputs[1].shape or {}
      if name == "tril" or name == "triu" then return 0.5 end
      if name:find "^diag" then return 1 / math.max(1, shape[#shape] or 1) end
      return 1
    end
  end
  return 1
end

-- What remains of a product's operations where algorithms are known that save some:
-- Strassen's for products, Winograd's and Fourier's for convolutions.
local function saving(op)
  if op.kind == "matmul" then return 7 / 8 end
  local window, weight = 1, op.inputs[2]
  for i = 3, #(weight and weight.shape or {}) do window = window * weight.shape[i] end
  return window == 1 and 7 / 8 or window <= 9 and 1 / 4 or 1 / 8
end

local function flops_needed(task)
  local total, exempt, tensors = 0, reorderable(task.graph), tensors_of(task)
  for _, op in ipairs(task.graph) do
    if is_product(op) and not exempt[op] then
      local share, sparse = saving(op), 0
      for _, input in ipairs(op.inputs) do
        local d = density_of(input.source, tensors, task.graph)
        if d < 0.9 then
          share, sparse = share * d, sparse + 1
        end
      end
      if sparse > 1 then share = share * 2 / 3 end      -- two triangles: n^3 / 3 of 2 n^3
      total = total + op.flops * share
    end
  end
  return total
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

local cache = setmetatable({}, { __mode = "k" })

--- What a task costs at least, of bytes and operations: { read =, written =, flops = }.
function M.costs(task)
  cache[task] = cache[task] or { read = bytes_read(task), written = bytes_written(task),
                                 flops = flops_needed(task) }
  return cache[task]
end

--- The least time of a task on its device, for a candidate that computes with the
--- precisions `used` ({ tf32 = true }): { seconds =, memory =, compute =, launch =, read =,
--- written =, flops =, precision =, source = }; or nil and why it is not known.
function M.floor(task, used)
  local limits, why = ceilings.of(task.device)
  if not limits then return nil, why end
  local costs = M.costs(task)
  local rate = math.max(limits.copy, limits.read or 0)
  -- What was written may still lie in the cache when the clock stops.
  local bytes = costs.read + math.max(0, costs.written - (task.device.info.l2 or 0))
  local speed, precision = peak(limits, used)
  -- An empty kernel takes the longer the lower the clock: measured is a time, not a floor.
  local launch = task.device.info.modelled and limits.launch or limits.launch / 2
  local f = { memory = bytes / rate, compute = speed and costs.flops / speed or 0.0, launch = launch,
              precision = precision, source = limits.source, read = costs.read, written = costs.written,
              flops = costs.flops }
  f.seconds = math.max(f.memory, f.compute, f.launch)
  return f
end

return M
