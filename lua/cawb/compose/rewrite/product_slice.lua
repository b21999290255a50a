-- product_slice: if only one row, column or matrix of a product is read, only that slice is computed. A product of one row or column with few
-- terms becomes a sum in its readers: each element of a factor is read once anyway.

local index = require "cawb.compose.ir.index"
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

-- A node whose dimensions `at` are one place each, and have size one.
local function cut(g, x, at)
  local shape = { table.unpack(x.shape) }
  for d in pairs(at) do shape[d] = 1 end
  return g:view(x, shape, function(i)
    local j = { table.unpack(i) }
    for d, place in pairs(at) do j[d] = index.const(place) end
    return j
  end)
end

-- The places along an operand's own dimensions: without the dimension that its product has from the other operand.
local function among(at, other)
  local own = {}
  for d, place in pairs(at) do if d ~= other then own[d] = place end end
  return own
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
  local rank, shape = #product.shape, { table.unpack(product.shape) }
  for d in pairs(at) do shape[d] = 1 end
  local y = multiplied(g, product, cut(g, product.inputs[1], among(at, rank)), cut(g, product.inputs[2], among(at, rank - 1)), shape)
  return g:view(y, x.shape, function(i)
    local j = views.at(x.pieces[1], i)
    for d in pairs(at) do j[d] = index.const(0) end
    return j
  end)
end

return M
