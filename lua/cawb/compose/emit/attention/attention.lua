-- attention: attention that schedule/attention.lua has found, for the generators of attention.

local accesses = require "cawb.compose.emit.accesses"
local attend = require "cawb.compose.emit.attention.text"
local attend_group = require "cawb.compose.emit.attention.warpgroup"
local expression = require "cawb.compose.emit.expression"
local graphs = require "cawb.compose.ir.graph"
local guards = require "cawb.compose.emit.guards"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local match = require "cawb.compose.ir.tree.match"
local tensor = require "cawb.compose.emit.tensor.tensor"
local values = require "cawb.compose.ir.values"
local views = require "cawb.compose.ir.view"

local M = {}

local LEAST = 1 << 14                 -- scores: below it launches are what counts
local MANY = 1 << 22                  -- scores: from here on it pays to pack queries and keys first
local FEWEST = 16                     -- queries: those of a warp
local DEEPEST = { float32 = 128, float16 = 256, bfloat16 = 256 }      -- numbers of a query, and columns of the values

local at = accesses.in_batch

local function sizes(x, first)
  local rank = #x.shape
  return { m = x.shape[rank - 1], v = x.shape[rank], n = x.inputs[2].shape[rank - 1], k = first.inputs[1].shape[#first.inputs[1].shape],
           batch = graphs.numel { table.unpack(x.shape, 1, rank - 2) } }
end

-- `scores`: whether its results may be float32, whatever its factors are: so they are in the kernel.
local function is_plain_product(x, dtype, scores)
  return (x.dtype == dtype or scores and x.dtype == "float32") and x.inputs[1].dtype == dtype and x.inputs[2].dtype == dtype and not x.inputs[3]
end

-- Bytes of shared memory; or nil and why attention is not made here. `options.attend`: the least scores for it.
local function served(x, first, options)
  local loop, why = tensor.loop(options.chip, options.emulate or x.dtype ~= "float32")
  if not loop then return nil, why end
  local deepest = DEEPEST[x.dtype]
  if not deepest or not is_plain_product(x, x.dtype) or not is_plain_product(first, x.dtype, true) then return nil, "it is for float32, float16 and bfloat16" end
  local s = sizes(x, first)
  if s.k > deepest or s.v > deepest then return nil, "its rows are too long" end
  if s.batch * s.m * s.n < (options.attend or LEAST) or (s.m < FEWEST and not options.attend) then return nil, "it is too small" end
  return options.chip.shared_block
end

-- The indices of neighbours of a row, if a row is a multiple of them: element(k) are indices.
local function neighbours(element, depth, width, name)
  local list = accesses.neighbours(depth, width, name)
  return list and lists.map(list, element)
end

-- A factor's access functions. `turned`: the numbers of a row are counted by the last dimension but one.
local function factor(a, d, name, node, rows, depth, turned)
  local row = index.var("row", rows)
  local function element(k) return turned and at(node.shape, k, row) or at(node.shape, row, k) end
  local four, eight = neighbours(element, depth, 4), node.dtype ~= "float32" and neighbours(element, depth, 8, "eight")
  d[name], d[name .. "4"] = a:value(node, element(index.var("k", depth))), four and a:values(node, four)
  d[name .. "8"] = eight and a:address(node, eight) or nil
end

-- The test for tiles without scores: scores are -inf where a guard is negative, as above a diagonal.
local function hidden(scores, s)
  local list = scores.fill == "-inf" and guards.of(scores, at(scores.shape, index.var("row", s.m), index.var("column", s.n))) or {}
  if #list == 0 then return nil end
  return function(rows, columns) return guards.nowhere(list, rows, columns, "first", ("%d * step"):format(columns)) end
end

local function constant(t) return t.op == "constant" and t.type ~= "bool" and t.value or nil end

-- The number that `first`, at the place of the scores, is multiplied with to be this tree; nil if there is none.
local function factor_of(v, t, first)
  local source = v:source(t)
  if source then return source.node == first and 1.0 or nil end
  if t.op ~= "multiply" and t.op ~= "divide" then return nil end
  local by, rest = constant(t[2]), t[1]
  if not by and t.op == "multiply" then by, rest = constant(t[1]), t[2] end
  local inner = by and factor_of(v, rest, first)
  return inner and (t.op == "multiply" and inner * by or inner / by)
end

-- The same of a node, if the number is positive.
local function multiple(x, i, first)
  local v = values.new()
  local by = factor_of(v, v:of(x, i), first)
  return by and by > 1e-6 and by < 1e6 and by or nil
end

local function is_nothing(x) return constant(values.new():of(x, views.variables(x.shape))) == -math.huge end

-- Whether x follows from the first product, through nodes of this kernel.
local function follows_from(x, found, seen)
  if x == found.first then return true end
  if seen[x] or x.stored and not found.inside[x] then return false end
  seen[x] = true
  return lists.any(x.inputs, function(input) return follows_from(input, found, seen) end)
end

-- The other scores, if x is a choice between them and -inf by truth values that do not follow from the product; or nil.
local function masked(x, found)
  local number = x.kind == "map" and match.operands(x.expression, "(M ? Y : N)")
  if not number then return nil end
  local mask, yes, no = x.inputs[number.M], x.inputs[number.Y], x.inputs[number.N]
  if follows_from(mask, found, {}) then return nil end
  return is_nothing(no) and yes or is_nothing(yes) and no or nil
end

-- If the scores are a positive multiple of the product, except where guards or truth values hide them: { scale, known = the node that
-- is the product then, list = guards }. The kernel then sees the product, and the factor goes into its exponentials. Else nil.
local function plain_scores(found, s)
  local scores = found.scores
  local i = at(scores.shape, index.var("row", s.m), index.var("column", s.n))
  local x, inner, list = scores, i, {}
  if scores.kind == "view" and scores.fill == "-inf" then
    list = guards.all(scores, i)
    x, inner = scores.inputs[1], views.at(scores.pieces[1], i)
  end
  local others = masked(x, found)
  if others then x, list = others, nil end
  local scale = multiple(x, inner, found.first)
  return scale and { scale = scale, known = { x, inner, "product" }, list = list }
end

-- C of the condition that no score is hidden, behind another one; nil where nobody knows.
local function open_of(list)
  return list and function(rows, columns)
    return #list > 0 and " && " .. guards.everywhere(list, rows, columns, "first", ("%d * step"):format(columns)) or ""
  end
end

-- What is written of a result, and of two neighbours if a row has an even number.
local function writes(x, s)
  local row, pair = index.var("row", s.m), index.scale(index.var("pair", s.v // 2), 2)
  local one = accesses.written(x, { at(x.shape, row, index.var("column", s.v)) }, "result")
  if s.v % 2 ~= 0 then return one end
  local two = accesses.written(x, { at(x.shape, row, pair), at(x.shape, row, index.plus(pair, 1)) }, "left")
  two.known[2][3] = "right"
  return one, two
end

-- Whether warpgroup products are used: the device has them, and the schedule asks for nothing that only products of a warp have.
local function is_group(options)
  local how = options.how or {}
  return tensor.loop(options.chip, options.emulate) == "wgmma" and how.queries ~= 64 and how.keys ~= 32
end

-- Attention of float32 in pairs of halves, for many scores or if a schedule asks for it, by warpgroup products; or nil. Rows of
-- different scales are then computed twice.
local function in_pairs(d, most, options)
  local how = options.how or {}
  local pays = how.pairs or how.pairs == nil and d.batch * d.m * d.n >= MANY
  return is_group(options) and pays and attend_group.pairs(d, most, how) or nil
end

--- No prologue fusion: a factor is not packed once, but read by many blocks.
function M.serves() return false end

-- What is known ahead of the text; raises a refusal. `kernel.attend` = { first = the product of queries and keys, scores = the node that follows
-- from it, finite }; `kernel.members[1]` is the product of the softmax and the values. `known`: the node from which the scores follow, as
-- Accesses:write has it.
local function chosen(kernel, options)
  local x, found = kernel.members[1], kernel.attend
  local most, why = served(x, found.first, options)
  if not most then expression.refuse(why) end
  local s = sizes(x, found.first)
  local c = { x = x, s = s, most = most, plain = plain_scores(found, s) }
  local row, column = index.var("row", s.m), index.var("column", s.n)
  c.scores_at = at(found.scores.shape, row, column)
  c.known = c.plain and c.plain.known or { found.first, at(found.first.shape, row, column), "product" }
  accesses.walk(kernel, c.known[1], { c.known }):value(found.scores, c.scores_at)
  c.one, c.two = writes(x, s)
  accesses.follow(kernel, x, c.one, c.two)
  why = attend.too_large(s, x.dtype, most)
  if why then expression.refuse(why) end
  return c
end

local function make(kernel, c, options)
  local found, x, s, plain = kernel.attend, c.x, c.s, c.plain or {}
  local a, d = accesses.new(kernel, x), lists.copy(s)
  d.finite, d.dtype, d.sms = found.finite, x.dtype, options.chip.sms
  factor(a, d, "query", found.first.inputs[1], s.m, s.k)
  factor(a, d, "key", found.first.inputs[2], s.n, s.k, true)
  factor(a, d, "value", x.inputs[2], s.n, s.v)
  d.score, d.scale, d.open = a:value(found.scores, c.scores_at, c.known), plain.scale, open_of(plain.list)
  d.hidden = hidden(found.scores, s)
  d.put, d.put2 = a:write(c.one), c.two and a:write(c.two) or nil
  a:describe(d)
  if x.dtype ~= "float32" then
    return a:finish(is_group(options) and attend_group.whole(d, c.most, options.how) or attend.half(d, c.most, options.how))
  end
  return a:finish(in_pairs(d, c.most, options) or attend.parts(d, c.most))
end

return expression.family(M, chosen, make)
