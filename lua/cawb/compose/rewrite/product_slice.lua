-- product_slice: if only one row, column or matrix of a product is read, only that slice is computed. A product of one row or column with few
-- terms becomes a sum in its readers: each element of a factor is read once anyway.

local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local views = require "cawb.compose.ir.view"

local M = { says = "only what is shown of a product is computed" }

local FEW = 64         -- terms that are added up where they are needed
local summed = { float64 = "float64", float32 = "float32", float16 = "float32", bfloat16 = "float32" }      -- in which type

-- For each dimension of the product the one place that the view shows, or nothing.
local function shown(x, product)
  if #x.pieces > 1 or product.kind ~= "product" or #x.pieces[1].guards > 0 then return nil end
  local found = nil
  for d, e in ipairs(x.pieces[1].at) do
    if e.lo == e.hi and product.shape[d] > 1 then
      found = found or {}
      found[d] = e.lo
    end
  end
  return found
end

-- Element i at one place along the dimensions `at`.
local function placed(i, at) return lists.map(i, function(e, d) return at[d] and index.const(at[d]) or e end) end

-- A shape whose dimensions `at` have size one.
local function short(shape, at) return lists.map(shape, function(n, d) return at[d] and 1 or n end) end

-- An operand at these places along its own dimensions: without dimension `other`, which its product has from the other operand.
local function cut(g, x, at, other)
  at = lists.copy(at)
  at[other] = nil
  return g:view(x, short(x.shape, at), function(i) return placed(i, at) end)
end

local function multiplied(g, x, a, b, shape)
  local rank, k = #shape, a.shape[#a.shape]
  if k > FEW or math.min(shape[rank - 1], shape[rank]) > 1 then
    return g:product(x, a, b)
  end
  local dtype = summed[x.dtype]
  if dtype == x.dtype then return g:summed_product(a, b) end
  return g:map("A", x.dtype, { g:summed_product(g:map("A", dtype, { a }), g:map("A", dtype, { b })) })
end

function M.apply(g, x)
  local product = x.kind == "view" and x.inputs[1]
  if not product or #product.users > 1 or g.shown[product] or product.inputs[3] or not summed[product.dtype] then return nil end
  local at = shown(x, product)
  if not at then return nil end
  local rank, shape = #product.shape, short(product.shape, at)
  local y = multiplied(g, product, cut(g, product.inputs[1], at, rank), cut(g, product.inputs[2], at, rank - 1), shape)
  return g:view(y, x.shape, function(i)
    return lists.map(views.at(x.pieces[1], i), function(e, d) return at[d] and index.const(0) or e end)
  end)
end

return M
