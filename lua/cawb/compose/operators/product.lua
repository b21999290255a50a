-- Products: of matrices, convolutions, attention.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"

local M = {}

local libraries = { float32 = true, float16 = true, bfloat16 = true }
local own = { float32 = true, float16 = true, bfloat16 = true, float64 = true, int32 = true, int64 = true }

-- Whether a library computes products of this type. Otherwise a kernel does, and the node is marked `own`. A product of any other
-- type is a sum of products of views.
local function by_library(g, dtype)
  return libraries[dtype] and not (g.options and g.options.libraries == false)
end

-- The type of a sum that a bias is added to: a 16-bit result is rounded once, behind its bias.
local function unrounded(dtype, bias)
  local halves = dtype == "float16" or dtype == "bfloat16"
  return bias and halves and "float32" or dtype
end

-- The product, with `bias`, one number for each column, where given.
local function product(g, a, b, bias)
  if by_library(g, a.dtype) and a.dtype == b.dtype then return g:product({ dtype = a.dtype }, a, b, bias) end
  local sum = own[a.dtype] and a.dtype == b.dtype and g:product({ own = true, dtype = unrounded(a.dtype, bias) }, a, b) or g:summed_product(a, b)
  return bias and g:map("A + B", a.dtype, { sum, bias }) or sum
end

function M.mm(g, op) return { product(g, op.x[1], op.x[2]) } end
M.bmm = M.mm

local function added(g, op, c, a, b)
  local alpha, beta = op.args.alpha or 1, op.args.beta or 1
  local columns = #c.shape == 1 and c.shape[1] == b.shape[#b.shape]
  if alpha == 1 and beta == 1 and columns then return { product(g, a, b, c) } end
  local p, dtype = product(g, a, b), op.out[1].dtype
  if beta == 0 then return { g:map("A * B", dtype, { p, g:fill(alpha, {}, dtype) }) } end
  return { g:map("A * B + C * D", dtype, { p, g:fill(alpha, {}, dtype), c, g:fill(beta, {}, dtype) }) }
end

function M.addmm(g, op) return added(g, op, op.x[1], op.x[2], op.x[3]) end
M.baddbmm = M.addmm

-- A batch of products added up is one product, of all their terms.
function M.addbmm(g, op)
  local a, b = op.by.batch1, op.by.batch2
  local n, rows, k = table.unpack(a.shape)
  return added(g, op, op.x[1], g:reshape(g:permute(a, { 2, 1, 3 }), { rows, n * k }), g:reshape(b, { n * k, b.shape[3] }))
end

function M.addr(g, op)
  local c, a, b, out = op.x[1], op.x[2], op.x[3], op.out[1]
  return { g:map("A * B + C * D * E", out.dtype, { c, g:fill(op.args.beta or 1, {}, out.dtype), g:reshape(a, { a.shape[1], 1 }), b,
                                                 g:fill(op.args.alpha or 1, {}, out.dtype) }) }
end

-- Of numbers of 8 bits, with scales of the rows and columns, or one for all (see rewrite/quantised.lua).
function M._scaled_mm(g, op)
  local out, list = op.out[1].dtype, { op.by.scale_a, op.by.scale_b, op.by.bias }
  for k, x in ipairs(list) do
    local rows, columns = x.shape[#x.shape - 1] or 1, x.shape[#x.shape] or 1
    if x.dtype:find "^float8" or k == 1 and columns > 1 or k == 2 and rows > 1 then return nil, "its scales are of blocks" end
  end
  if op.by.scale_result then return nil, "its result has a scale" end
  local sum = product(g, g:map("A", "float32", { op.by.self }), g:map("A", "float32", { op.by.mat2 }))
  sum.eight = op.args.use_fast_accum and "fast" or "exact"
  local line = list[3] and "A * B * C + D" or "A * B * C"
  return { g:map(out:find "^float8" and ("%s(%s)"):format(out, line) or line, out, { sum, table.unpack(list) }, "float32") }
end

-- Three factors with dimensions of size one put in, multiplied and added up over some.
function M._trilinear(g, op)
  local list, shape = {}, {}
  for k = 1, 3 do
    local own = { table.unpack(op.x[k].shape) }
    local expand = { table.unpack(op.args["expand" .. k] or {}) }
    table.sort(expand)
    for _, d in ipairs(expand) do table.insert(own, d + 1, 1) end
    list[k] = g:reshape(op.x[k], own)
    for d, n in ipairs(own) do shape[d] = n ~= 1 and n or shape[d] or 1 end
  end
  local axes = lists.set(lists.map(op.args.sumdim, function(d) return d + 1 end))
  return { g:reduce("sum", g:map("A * B * C", op.out[1].dtype, lists.map(list, function(x) return g:broadcast(x, shape) end)), axes) }
end

-- Vectors are matrices of one row or column.
function M.mv(g, op)
  local a, v = op.x[1], op.x[2]
  return { g:reshape(product(g, a, g:reshape(v, { v.shape[1], 1 })), op.out[1].shape) }
end

function M.dot(g, op) return { g:reduce("sum", g:map("A * B", op.out[1].dtype, { op.x[1], op.x[2] }), { true }) } end
M.vdot = M.dot

function M.addmv(g, op)
  local function column(x) return #x.shape == 1 and g:reshape(x, { x.shape[1], 1 }) or x end
  return { g:reshape(added(g, op, column(op.x[1]), op.x[2], column(op.x[3]))[1], op.out[1].shape) }
end

-- The geometry of a convolution: its dimensions of space, and for each of them size, stride, ...
local function geometry(op, x, w)
  local dims = #x.shape - 2
  local function each(list, default) return tools.each(list, dims, { default }) end
  return { dims = dims, groups = op.args.groups or 1, transposed = op.args.transposed == true,
           stride = each(op.args.stride, 1), padding = each(op.args.padding, 0), dilation = each(op.args.dilation, 1),
           output_padding = each(op.args.output_padding, 0), taps = { table.unpack(w.shape, 3) } }
end

-- A transposed convolution of one channel a group, without dilation: an output meets each stride-th tap alone.
local function met(g, x, w, c, out)
  local wide = { table.unpack(out) }
  for d = 1, c.dims do wide[#out + d] = -(-c.taps[d] // c.stride[d]) end
  local function places(i)
    local from, by, guards = { i[1], i[2] }, { i[2], index.const(0) }, {}
    for d = 1, c.dims do
      local at, q = i[d + 2] + c.padding[d], i[#out + d]
      by[d + 2], from[d + 2] = at % c.stride[d] + c.stride[d] * q, at // c.stride[d] - q
      guards[#guards + 1] = index.back(by[d + 2], c.taps[d])
      lists.append(guards, index.inside(from[d + 2], x.shape[d + 2]))
    end
    return from, by, guards
  end
  local function guards(i) return (select(3, places(i))) end
  local a = g:view(x, wide, function(i) return (places(i)) end, guards, 0)
  local b = g:view(w, wide, function(i) return (select(2, places(i))) end, guards, 0)
  return g:reduce("sum", g:map("A * B", x.dtype, { a, b }), tools.span(#out + 1, #wide))
end

-- How many products an output is the sum of.
local function terms(x, c)
  return x.shape[2] // c.groups * graphs.numel(c.taps)
end

-- Whether a convolution has so few products that memory bounds it: then no library computes it.
local function is_thin(x, c, out)
  local n = terms(x, c)
  return not c.transposed and x.dtype == "float32" and (n < 8 or out[2] < 8 and n <= 32)
end

-- Whether cuDNN has no good way for it: 16-bit groups that are transposed and dilated took 27 times PyTorch's own kernel on an H100.
local function is_scattered(x, c)
  return c.transposed and c.groups > 1 and x.dtype ~= "float32" and math.max(table.unpack(c.dilation)) > 1
end

-- A transposed convolution of one channel a group and of stride 1 is a plain one with turned weights, which a generator of windows makes.
local function turned(g, w, c)
  local padding = lists.times(c.dims, function(d) return c.dilation[d] * (c.taps[d] - 1) - c.padding[d] end)
  if lists.any(padding, function(n, d) return c.stride[d] ~= 1 or n < 0 end) then return w, c end
  local plain = setmetatable({ transposed = false, padding = padding }, { __index = c })
  return g:view(w, w.shape, function(i)
    return lists.map(i, function(e, d) return d <= 2 and e or index.back(e, c.taps[d - 2]) end)
  end), plain
end

local DIRECT = 64            -- products of an output of groups, up to which no library computes it

local function convolution(g, op)
  local x, w, bias = op.by.input, op.by.weight, op.by.bias
  local out, c = op.out[1].shape, geometry(op, x, w)
  local alone = c.transposed and c.groups > 1 and c.groups == x.shape[2] and w.shape[2] == 1 and not by_library(g, x.dtype)
  if alone then w, c = turned(g, w, c) end
  local is_met = alone and c.transposed and math.max(table.unpack(c.dilation)) == 1
  local function conv(input, weight, dtype)
    return g:node { kind = "conv", own = true, inputs = { input, weight }, shape = out, dtype = dtype, conv = c }
  end
  local few = c.groups > 1 and terms(x, c) <= DIRECT or is_thin(x, c, out) or is_scattered(x, c)
  if by_library(g, x.dtype) and not few then return { g:node { kind = "conv", inputs = { x, w, bias }, shape = out, dtype = x.dtype, conv = c } } end
  local sum
  if is_met then sum = met(g, x, w, c, out)
  elseif own[x.dtype] then sum = conv(x, w, unrounded(x.dtype, bias))
  else sum = g:map("A", x.dtype, { conv(g:map("A", "int32", { x }), g:map("A", "int32", { w }), "int32") }, "int32") end
  return { bias and g:map("A + B", x.dtype, { sum, g:vector(bias, 2, #out) }) or sum }
end

M.convolution, M._convolution, M.cudnn_convolution = convolution, convolution, convolution
M.convolution_overrideable, M.mkldnn_convolution = convolution, convolution

function M.cudnn_convolution_transpose(g, op)
  op.args.transposed = true
  return convolution(g, op)
end

-- Keys or values of fewer heads than queries: each is for several queries' heads, next to each other.
local function for_heads(g, x, heads, rank)
  local given = rank > 2 and x.shape[rank - 2] or heads
  if given == heads then return x end
  return g:view(x, index.with(x.shape, rank - 2, heads), function(i) return index.with(i, rank - 2, i[rank - 2] // (heads // given)) end)
end

-- softmax(q k' * scale + mask) v; the mask may be of truth values.
local function attention(g, op)
  local q, k, v = op.by.query, op.by.key, op.by.value
  local mask = op.by.attn_bias or op.by.attn_mask
  local rank, dtype = #q.shape, q.dtype
  if op.args.dropout_p and op.args.dropout_p ~= 0 then return nil, "its dropout is random" end
  k, v = for_heads(g, k, q.shape[rank - 2], rank), for_heads(g, v, q.shape[rank - 2], rank)
  local scores = product(g, q, g:view(k, index.listed(k.shape, 1, rank - 2, k.shape[rank], k.shape[rank - 1]),
    function(i) return index.listed(i, 1, rank - 2, i[rank], i[rank - 1]) end))
  local scale = op.args.scale or 1 / math.sqrt(q.shape[rank])
  scores = g:map("A * B", dtype, { scores, g:fill(scale, {}, dtype) })
  if mask and mask.dtype == "bool" then
    scores = g:map("(B ? A : C)", dtype, { scores, mask, g:fill("-inf", {}, dtype) }, nil, { false, "bool" })
  elseif mask then
    scores = g:map("A + B", dtype, { scores, mask })
  end
  if op.args.is_causal then
    scores = g:view(scores, scores.shape, function(i) return i end, function(i)
      return { i[rank - 1] - i[rank] }
    end, "-inf")
  end
  local axes = { [rank] = true }
  local e = tools.exponentials(g, scores, axes, true)
  local p = g:map("(B == 0.0 ? 0.0 : A / B)", dtype, { e, g:reduce("sum", e, axes, true) })
  return { product(g, p, v) }
end

for _, how in ipairs { "flash_attention_for_cpu", "flash_attention", "efficient_attention", "cudnn_attention",
                       "attention_math", "attention_math_for_mps" } do
  M["_scaled_dot_product_" .. how] = attention
end
M.scaled_dot_product_attention = attention

return M
