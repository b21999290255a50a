-- kernel: products of matrices, and convolutions as such (conv), that no library computes, or with an epilogue, for the generator of products.

local accesses = require "cawb.compose.emit.accesses"
local convs = require "cawb.compose.emit.product.conv"
local expression = require "cawb.compose.emit.expression"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local views = require "cawb.compose.ir.view"
local products = require "cawb.compose.emit.product.text"
local types = require "cawb.torch.types"

local M = {}

local sums = { float = true, double = true, int = true, ["long long"] = true }

--- Whether a product or a convolution of this type can be computed here.
function M.computes(dtype) return types.known(dtype) and sums[types.register(dtype)] ~= nil end

-- Where an operand's elements lie in memory, seen through views, by variables r1, r2, ...; nil where they are computed, or
-- in several tensors.
local function place_of(x)
  local i, node = views.variables(x.shape), x
  while node.kind == "view" and not node.stored do
    if #node.pieces > 1 then return nil end
    i, node = views.at(node.pieces[1], i), node.inputs[node.pieces[1].input]
  end
  return node.strides and index.place(i, node.strides, node.offset or 0) or nil
end

-- Along which of its last two dimensions neighbours of an operand lie: r - 1 or r; and whether they lie in packs of four.
local function lie(x)
  local place, r = place_of(x), #x.shape
  if not place then return r, false end
  local row, column = index.stride(place, "r" .. r - 1), index.stride(place, "r" .. r)
  local along = row == 1 and column ~= 1 and r - 1 or r
  return along, x.dtype == "float32" and index.stride(place, "r" .. along) == 1 and x.shape[along] % 4 == 0
end

-- Four neighbours of an operand; `names` of its rows and columns, `along` which of them.
local function four_of(a, x, along, names)
  local rank = #x.shape
  local i = { index.var(names[1], x.shape[rank - 1]), index.var(names[2], x.shape[rank]) }
  local list = lists.map(accesses.neighbours(x.shape[along], 4), function(e)
    return accesses.in_batch(x.shape, table.unpack(index.with(i, along - rank + 2, e)))
  end)
  return a:values(x, list, ("const int t = %s / 4;"):format(names[along - rank + 2]))
end

-- C that reads an element of an operand, C that reads four, and the name of the index along which neighbours lie in memory.
local function operand(a, x, names)
  local rank = #x.shape
  local along, packs = lie(x)
  local one = a:value(x, accesses.in_batch(x.shape, index.var(names[1], x.shape[rank - 1]), index.var(names[2], x.shape[rank])))
  return one, packs and four_of(a, x, along, names) or nil, names[along - rank + 2]
end

-- A product of matrices: sizes, factors and the result's indices, as conv.product has them.
local function matrices(x)
  local rank = #x.shape
  local p = { m = x.shape[rank - 1], n = x.shape[rank], k = x.inputs[1].shape[rank], batch = graphs.numel { table.unpack(x.shape, 1, rank - 2) },
              a = x.inputs[1], b = x.inputs[2], inner = x.shape[rank] }
  function p.at(column) return accesses.in_batch(x.shape, index.var("m", p.m), column), {} end
  return p
end

-- The condition in C under which there is a result at z, m and n; nil where there is one everywhere.
local function conditions(p)
  return expression.conditions(select(2, p.at(index.var("n", p.n))))
end

-- What is written of each element, and of four neighbours of a line if lines are packs of them.
local function writes(x, p)
  local one = accesses.written(x, { (p.at(index.var("n", p.n))) }, "value")
  if p.inner % 4 ~= 0 or p.n == 0 or types.size(x.dtype) ~= 4 or conditions(p) then return one end
  local list = lists.map(accesses.neighbours(p.n, 4), function(e) return (p.at(e)) end)
  return one, accesses.written(x, list, "v[%d]")
end

-- The product of a kernel, whose node is `x`; raises a refusal.
local function describe(kernel)
  local x = accesses.anchor(kernel, { product = true, conv = true })
  if not M.computes(x.dtype) then expression.refuse(("no %s sums %s"):format(x.kind == "conv" and "convolution" or "product", x.dtype)) end
  local p = x.kind == "conv" and convs.product(x) or matrices(x)
  local why = products.refusal(p)
  if why then expression.refuse(why) end
  accesses.follow(kernel, x, writes(x, p))
  p.x = x
  return p
end

local function make(kernel, p, options, chip)
  local x = p.x
  local a, one, four = accesses.new(kernel, x), writes(x, p)
  local d = { type = types.register(x.dtype), m = p.m, n = p.n, k = p.k, batch = p.batch }
  d.a, d.a4, d.along_a = operand(a, p.a, { "m", "k" })
  d.b, d.b4, d.along_b = operand(a, p.b, { "k", "n" })
  local inside = conditions(p)
  d.store = inside and ("if (%s) {\n%s\n}"):format(inside, a:write(one)) or a:write(one)
  d.store4 = four and a:write(four, "const int t = n / 4;")
  return a:finish(products.generate(a:describe(d), options, chip))
end

M.describe, M.make = describe, make

return expression.family(M, describe, make)
