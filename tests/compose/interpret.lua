-- interpret: a graph of compose evaluated as it is written, one element at a time, in float64. On small whole numbers that
-- is exact, so two graphs that are the same in real arithmetic give the same bits.
--   local values = interpret(graph, output, { ["input:1"] = function(number) return value end, ... })

local evaluate = dofile "tests/support/evaluate.lua"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local views = require "cawb.compose.ir.view"

local joins = {
  sum = { 0, function(a, b) return a + b end }, prod = { 1, function(a, b) return a * b end },
  max = { -math.huge, math.max }, min = { math.huge, math.min },
}

local function constants(at)
  local i = {}
  for d, n in ipairs(at) do i[d] = index.const(n) end
  return i
end

local function numbers(list)
  local i = {}
  for d, e in ipairs(list) do i[d] = assert(index.number(e)) end
  return i
end

-- All indices of a shape, in order.
local function each(shape)
  local at, done = {}, graphs.numel(shape) == 0
  for d = 1, #shape do at[d] = 0 end
  return function()
    if done then return nil end
    local now = { table.unpack(at) }
    local d = #shape
    while d > 0 do
      at[d] = at[d] + 1
      if at[d] < shape[d] then break end
      at[d], d = 0, d - 1
    end
    done = d == 0
    return now
  end
end

local function number_of(at, shape)
  local n = 0
  for d, size in ipairs(shape) do n = n * size + at[d] end
  return n
end

return function(graph, leaves)
  local known, value = {}, nil
  local kinds = {}

  function kinds.leaf(x, at)
    if x.source == "fill" then return x.value end
    return leaves[x.source](number_of(at, x.shape))
  end

  function kinds.map(x, at)
    local a = {}
    for k, input in ipairs(x.inputs) do a[k] = value(input, at) end
    return evaluate.of(x.expression, a)
  end

  function kinds.view(x, at)
    for _, piece in ipairs(x.pieces) do
      local i, inside = constants(at), true
      for _, e in ipairs(views.guards(piece, i)) do inside = inside and index.number(e) >= 0 end
      if inside then return value(x.inputs[piece.input], numbers(views.at(piece, i))) end
    end
    return x.fill
  end

  function kinds.reduce(x, at)
    local from, shape = x.inputs[1], {}
    for d, n in ipairs(from.shape) do if x.axes[d] then shape[#shape + 1] = n end end
    local total, join = joins[x.op][1], joins[x.op][2]
    for along in each(shape) do
      local i, k, j = {}, 0, 0
      for d = 1, #from.shape do
        if x.axes[d] then k = k + 1; i[d] = along[k] else j = j + 1; i[d] = at[j] end
      end
      total = join(total, value(from, i))
    end
    return total
  end

  function kinds.product(x, at)
    local a, b, bias, r = x.inputs[1], x.inputs[2], x.inputs[3], #x.shape
    local total = bias and value(bias, { at[r] }) or 0
    for k = 0, a.shape[r] - 1 do
      local i, j = { table.unpack(at) }, { table.unpack(at) }
      i[r], j[r - 1] = k, k
      total = total + value(a, i) * value(b, j)
    end
    return total
  end

  -- Where tap t meets the input along dimension d, for result p; nil where it meets none.
  local function place(c, n, d, p, t)
    local i = p * c.stride[d] + t * c.dilation[d] - c.padding[d]
    if c.transposed then
      i = p + c.padding[d] - t * c.dilation[d]
      if i % c.stride[d] ~= 0 then return nil end
      i = i // c.stride[d]
    end
    return i >= 0 and i < n and i or nil
  end

  function kinds.conv(x, at)
    local input, w, bias, c = x.inputs[1], x.inputs[2], x.inputs[3], x.conv
    local ins, outs = input.shape[2] // c.groups, x.shape[2] // c.groups
    local group, total = at[2] // outs, bias and value(bias, { at[2] }) or 0
    for ci = 0, ins - 1 do
      for taps in each(c.taps) do
        local i, inside = { at[1], group * ins + ci }, true
        for d = 1, c.dims do
          i[d + 2] = place(c, input.shape[d + 2], d, at[d + 2], taps[d])
          inside = inside and i[d + 2]
          if not inside then break end
        end
        local j = c.transposed and { group * ins + ci, at[2] % outs } or { at[2], ci }
        for d, t in ipairs(taps) do j[d + 2] = t end
        if inside then total = total + value(input, i) * value(w, j) end
      end
    end
    return total
  end

  function value(x, at)
    local memory, n = known[x] or {}, number_of(at, x.shape)
    known[x] = memory
    if memory[n] == nil then memory[n] = kinds[x.kind](x, at) end
    return memory[n]
  end

  local all = {}
  for k, output in ipairs(graph.outputs) do
    all[k] = {}
    for at in each(output.shape) do table.insert(all[k], value(output, at)) end
  end
  return all
end
