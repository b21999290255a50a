-- needs: what any kernel for a graph must read and compute. Where cheap tricks exist (parts that
-- nobody looks at, structure in the inputs, associativity, fast convolutions) it gives way: it may
-- be too little, never too much.

local traits = require "cawb.torch.traits"

local M = {}

local function numel(shape)
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  return n
end

local function label(op) return "op:" .. op.number end

-- ---- what lies in memory

local sizes = { float64 = 8, int64 = 8, complex64 = 8, complex128 = 16, float32 = 4, int32 = 4, float16 = 2,
                bfloat16 = 2, int16 = 2 }

--- Inputs and parameters by their source ("input:1", "param:fc.weight"): { bytes =, values = elements
--- that are stored, density = the share of them that is not zero }.
function M.tensors(task)
  local found, leaf = {}, 0
  local function add(name, spec, density)
    local t = found[name] or { bytes = 0, values = 0, density = 1 }
    t.bytes, t.density = t.bytes + spec.bytes, math.min(t.density, density or 1)
    t.values = t.values + spec.bytes // (sizes[spec.dtype] or 1)
    found[name] = t
  end
  local function input(name, spec)
    for _, item in ipairs(spec.items or {}) do input(name, item) end
    if not spec.dtype then return end
    leaf = leaf + 1
    add(name, spec, task.density and task.density.inputs[leaf])
  end
  for i, spec in ipairs(task.inputs) do input("input:" .. i, spec) end
  for _, spec in ipairs(task.params) do add("param:" .. spec.name, spec, task.density and task.density.params[spec.name]) end
  return found
end

-- ---- which parts are looked at

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

-- The share of an operand that an operator reads at least. What is written to a part of a tensor
-- leaves the rest for others.
local function taken(op, input)
  local partial = traits.of(op, "partial")
  if traits.picks(op, input) or has_gaps(op) or partial and input.arg == "out" then return 0 end
  return partial and 1 or input.share or 1
end

--- The share of each tensor, by source, that some output cannot do without. `results` are the
--- outputs, { source =, share = of it }; where they are not known all is needed.
function M.shares(graph, results)
  local need = {}
  local function add(source, share) need[source] = math.max(need[source] or 0, share) end
  for _, result in ipairs(results or {}) do add(result.source, result.share or 1) end
  for i = #graph, 1, -1 do
    local op = graph[i]
    if not results then add(label(op), 1) end
    for _, input in ipairs(op.inputs) do add(input.source, (need[label(op)] or 0) * taken(op, input)) end
  end
  return need
end

-- ---- products

local function is_product(op) return op.kind == "matmul" or op.kind == "convolution" end

-- Whether an operator adds up what comes by this operand: a sum, or a product that multiplies it.
local function adds_up(op, input)
  if is_product(op) then return not traits.lists(op, "linear", input) end
  return (traits.of(op, "sums") or traits.of(op, "unknown")) and traits.is_linear(op, input)
end

-- Operators whose arithmetic might be saved, each with { the product, what adds it up }: a product whose result goes, by
-- linear steps alone, into a sum or another product can be reordered: sum(x W) = x sum(W).
local function reorderable(graph)
  local from, exempt = {}, {}                  -- products that each result is linear in
  for _, op in ipairs(graph) do
    local reached = is_product(op) and { [op] = true } or {}
    for _, input in ipairs(op.inputs) do
      for product in pairs(from[input.source] or {}) do
        if adds_up(op, input) then
          local pair = { product, op }
          exempt[product], exempt[op] = exempt[product] or pair, exempt[op] or pair
        end
        if traits.is_linear(op, input) then reached[product] = true end
      end
    end
    from[label(op)] = reached
  end
  return exempt
end

-- Tensors that no input goes into: what is made of them can be made before the clock starts.
local function prepared(graph)
  local ready = {}
  for _, op in ipairs(graph) do
    local all = true
    for _, input in ipairs(op.inputs) do all = all and not input.source:find "^input:" and ready[input.source] ~= false end
    ready[label(op)] = all
  end
  return ready
end

-- So many numbers an operand is made of, as it is seen through views.
local function values(input, count)
  local n = count[input.source] or numel(input.shape)
  return (input.share or 0) > 0 and n * input.share or n
end

-- From how many numbers a tensor is made, at most: elements that come again by broadcasting,
-- repeating or resizing need be multiplied only once.
local function extents(graph, tensors)
  local count = {}
  for source, t in pairs(tensors) do count[source] = t.values end
  for _, op in ipairs(graph) do
    local size, sum, seen = 0, 0, {}
    for _, output in ipairs(op.outputs or {}) do size = math.max(size, numel(output.shape)) end
    for _, input in ipairs(op.inputs) do
      if not seen[input.source] then sum = sum + values(input, count) end
      seen[input.source] = true
    end
    local spreads = op.kind == "pointwise" or traits.of(op, "moves") or traits.of(op, "linear")
    count[label(op)] = spreads and math.min(size, math.max(1, sum)) or size
  end
  return count
end

-- The same matrix for all of a batch: its products are all different.
local function multiplied(input)
  local n = numel(input.shape)
  return #input.shape == 3 and input.strides and input.strides[1] == 0 and n / math.max(1, input.shape[1]) or n
end

-- The share of a product's factors that is no repetition.
local function distinct(op, count)
  local share = 1
  for _, input in ipairs(op.inputs) do
    local n = multiplied(input)
    if not traits.lists(op, "linear", input) and n > 0 then
      share = math.min(share, values(input, count) / n)
    end
  end
  return share
end

-- The share of a result's elements that can differ from zero, where its maker says so.
local function density_of(source, tensors, makers)
  if tensors[source] then return tensors[source].density end
  local op = makers[source]
  local structure = op and traits.of(op, "structure")
  local shape = op and op.outputs[1] and op.outputs[1].shape or {}
  if structure == "triangle" then return 0.5 end
  return structure == "diagonal" and 1 / math.max(1, shape[#shape] or 1) or 1
end

-- What remains of a product's operations where factors are known to hold zeros.
local function sparsity(op, tensors, makers)
  local share, sparse = 1, 0
  for _, input in ipairs(op.inputs) do
    local d = density_of(input.source, tensors, makers)
    if d < 0.9 then share, sparse = share * d, sparse + 1 end
  end
  return sparse > 1 and share * 2 / 3 or share          -- two triangles: n^3 / 3 of 2 n^3
end

-- What remains of a product's operations where algorithms are known that save some:
-- Strassen's for products, Winograd's and Fourier's for convolutions.
local function saving(op)
  if op.kind == "matmul" then return 7 / 8 end
  local window, weight = 1, op.inputs[2]
  for i = 3, #(weight and weight.shape or {}) do window = window * weight.shape[i] end
  return window == 1 and 7 / 8 or window <= 9 and 1 / 4 or 1 / 8
end

local function named(op) return ("%s (operator %d)"):format(op.name, op.number) end

local function in_another_order(pair)
  local first, second = named(pair[1]), named(pair[2])
  if is_product(pair[2]) then return ("the products %s and %s can be computed in another order"):format(first, second) end
  return ("%s adds up what %s multiplies, so sums of a factor can be multiplied"):format(second, first)
end

-- What may take operations from a product: { share that is left, how in words }.
local function ways(op, from)
  local name = named(op)
  return {
    { from.ready[label(op)] and 0 or 1, name .. " multiplies parameters alone, so it can be computed ahead" },
    { from.exempt[op] and 0 or 1, from.exempt[op] and in_another_order(from.exempt[op]) },
    { from.shares[label(op)] or 0, "no output takes all that " .. name .. " computes" },
    { sparsity(op, from.tensors, from.makers), ("the factors of %s hold zeros"):format(name) },
    { distinct(op, from.count), ("the factors of %s repeat"):format(name) },
    { saving(op), name .. " can be computed with fewer multiplications (Strassen, Winograd)" },
  }
end

-- What is left of a product's operations, and how most of the others can be saved.
local function left_of(op, from)
  local share, least, how = 1, 1, nil
  for _, way in ipairs(ways(op, from)) do
    share = share * way[1]
    if way[1] < least then least, how = way[1], way[2] end
  end
  return op.flops * share, how
end

--- Operations of products that cannot be saved, of a graph without views, and how most of the others can be, in words; `shares` as
--- from M.shares.
function M.flops(graph, tensors, shares)
  local total, most, how, makers = 0, 0, nil, {}
  for _, op in ipairs(graph) do makers[label(op)] = op end
  local from = { exempt = reorderable(graph), ready = prepared(graph), count = extents(graph, tensors), makers = makers, tensors = tensors, shares = shares }
  for _, op in ipairs(graph) do
    if is_product(op) then
      local left, way = left_of(op, from)
      total = total + left
      if op.flops - left > most then most, how = op.flops - left, way end
    end
  end
  return total, how
end

return M
