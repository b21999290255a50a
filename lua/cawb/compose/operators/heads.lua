-- heads: attention of several heads with its projections, in one operator, as nn.MultiheadAttention calls it in eval.

local lists = require "cawb.base.lists"
local product = require "cawb.compose.operators.product"

local M = {}

-- x w' + bias of matrices; of w and bias `count` rows from `first` on.
local function projected(g, x, w, bias, first, count)
  local factor = g:view(w, { w.shape[2], count }, function(i) return { i[2] + first, i[1] } end)
  local added = g:view(bias, { count }, function(i) return { i[1] + first } end)
  return product.addmm(g, { x = { added, x, factor }, args = {}, out = { x } })[1]
end

-- (batch, heads, rows, size) of a matrix whose columns from `first` on are those of the heads.
local function split(g, x, shape, first)
  return g:view(x, shape, function(i) return { i[3] + shape[3] * i[1], i[4] + shape[4] * i[2] + first } end)
end

-- Queries, keys and values of the heads, by one product where they come from one tensor.
local function parts(g, op, heads)
  local by, width, whole = op.by, op.args.embed_dim, nil
  return table.unpack(lists.map({ by.query, by.key, by.value }, function(x, k)
    local batch, rows = x.shape[1], x.shape[2]
    local flat = g:reshape(x, { batch * rows, width })
    local is_one = by.query == by.key and by.query == by.value
    whole = is_one and (whole or projected(g, flat, by.qkv_weight, by.qkv_bias, 0, 3 * width))
    local y = whole or projected(g, flat, by.qkv_weight, by.qkv_bias, (k - 1) * width, width)
    return split(g, y, { batch, heads, rows, width // heads }, whole and (k - 1) * width or 0)
  end))
end

function M._native_multi_head_attention(g, op)
  local width, heads, by = op.args.embed_dim, op.args.num_head, op.by
  if by.mask then return nil, "with a mask it is not made; F.scaled_dot_product_attention would serve" end
  local q, k, v = parts(g, op, heads)
  local y = product.scaled_dot_product_attention(g, { by = { query = q, key = k, value = v }, args = {} })[1]
  local batch, rows = q.shape[1], q.shape[3]
  local flat = g:reshape(g:permute(y, { 1, 3, 2, 4 }), { batch * rows, width })
  return { g:reshape(projected(g, flat, by.proj_weight, by.proj_bias, 0, width), { batch, rows, width }) }
end

return M
