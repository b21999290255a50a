-- matrix_chain: three factors in the order that takes fewer multiplications: (a b) c is a (b c), where nobody else reads the product of two.
-- A product of parameters alone is then computed before the first call. A NaN reaches the same results in either order.

local views = require "cawb.compose.rewrite.views"

local M = { says = "three factors are multiplied in the order that is less work" }

local MUCH = 0.8       -- of the multiplications: with more than that the order stays

local function is_inner(g, x, p)
  return p.kind == "product" and p.dtype == x.dtype and #p.users == 1 and not g.shown[p] and not p.inputs[3]
end

-- Multiplications of (a b) c and of a (b c), without the common factor of the batch.
local function works(a, b, c)
  local rank = #a.shape
  local m, k, n, p = a.shape[rank - 1], a.shape[rank], b.shape[rank], c.shape[rank]
  return m * k * n + m * n * p, k * n * p + m * k * p
end

function M.apply(g, x)
  if x.kind ~= "product" or not x.dtype:find "^float[36]" or x.inputs[1] == x.inputs[2] then return nil end
  local left, right, bias = table.unpack(x.inputs, 1, 3)
  if is_inner(g, x, left) then
    local a, b = left.inputs[1], left.inputs[2]
    local now, other = works(a, b, right)
    if views.is_batched_alike(a, b, right) and other < MUCH * now then return g:product(x, a, g:product(left, b, right), bias) end
  end
  if is_inner(g, x, right) then
    local b, c = right.inputs[1], right.inputs[2]
    local other, now = works(left, b, c)
    if views.is_batched_alike(left, b, c) and other < MUCH * now then return g:product(x, g:product(right, left, b), c, bias) end
  end
end

return M
