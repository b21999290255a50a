-- Recurrent layers: the inputs' contribution to all gates is one product for the whole sequence. The steps are a `cell`, a node of
-- shape (states, steps, batch, hidden).

local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"

local M = {}

local gates = { lstm = 4, gru = 3, rnn_tanh = 1, rnn_relu = 1 }

-- One of the leading dimension.
local function at(g, x, n) return g:reshape(g:slice(x, 1, n, 1), { table.unpack(x.shape, 2) }) end

-- The weights of one layer and direction: { input, hidden, bias of input, bias of hidden }.
local function weights(op, n)
  local each = op.args.has_biases and 4 or 2
  return { table.unpack(op.params, (n - 1) * each + 1, n * each) }
end

-- A layer's weights for the layer below, if its parameters lie in memory: both may then run at the same time (compose/wave.lua).
local function of_below(g, below, w)
  if not below or w[1].kind ~= "leaf" or (w[3] and w[3].kind ~= "leaf") then return nil end
  return { cell = below, weight = w[1], bias = w[3] or g:fill(0, { w[1].shape[1] }, w[1].dtype) }
end

-- `below`: the cell whose states `x` are, if there is one.
local function layer(g, op, x, w, states, reverse, below)
  local steps, batch, size = table.unpack(x.shape)
  local n, hidden = w[1].shape[1], w[2].shape[2]
  local flat = g:reshape(x, { steps * batch, size })
  local product = require("cawb.compose.operators.product").mm
  local share = product(g, { x = { flat, g:permute(w[1], { 2, 1 }) }, out = { { dtype = x.dtype } }, args = {} })[1]
  if w[3] then share = g:map("A + B", x.dtype, { share, w[3] }) end
  local turned = g:view(g:permute(w[2], { 2, 1 }), { hidden, n }, function(i) return i end)
  turned.wanted = true
  local count = op.name == "lstm" and 2 or 1
  return g:node { kind = "cell", own = true, op = op.name, reverse = reverse, shape = { count, steps, batch, hidden }, dtype = x.dtype,
    inputs = { g:reshape(share, { steps, batch, n }), turned, w[4] or g:fill(0, { n }, x.dtype), table.unpack(states) },
    gates = gates[op.name], below = of_below(g, below, w) }
end

-- The last state of each layer and direction, one behind the other.
local function finals(g, list, which)
  local pieces, shape = {}, { #list, table.unpack(list[1].cell.shape, 3) }
  for k, one in ipairs(list) do
    local last = one.reverse and 0 or one.cell.shape[2] - 1
    pieces[k] = { one.cell, function(i) return { index.const(which), index.const(last), i[2], i[3] } end,
                  k < #list and function(i) return { index.back(i[1], k) } end or nil }
  end
  return g:join(shape, pieces)
end

local function recurrent(states)
  return function(g, op)
    if op.args.dropout and op.args.dropout ~= 0 and op.args.train then return nil, "its dropout is random" end
    local x = op.x[1]
    op.params = { table.unpack(op.x, 2 + states) }
    if #op.params[2].shape ~= 2 or op.params[1].shape[1] ~= gates[op.name] * op.params[2].shape[2] then
      return nil, "its projections are not known here"
    end
    if op.args.batch_first then x = g:permute(x, { 2, 1, 3 }) end
    local directions, all = op.args.bidirectional and 2 or 1, {}
    for l = 1, op.args.num_layers do
      local made = {}
      for d = 1, directions do
        local n = (l - 1) * directions + d
        local begin = lists.times(states, function(s) return at(g, op.x[1 + s], n - 1) end)
        local cell = layer(g, op, x, weights(op, n), begin, d == 2, directions == 1 and l > 1 and all[#all].cell or nil)
        made[d] = at(g, cell, 0)
        all[#all + 1] = { cell = cell, reverse = d == 2 }
      end
      x = made[2] and g:concatenate(made, 3, index.with(made[1].shape, 3, 2 * made[1].shape[3])) or made[1]
    end
    local y = op.args.batch_first and g:permute(x, { 2, 1, 3 }) or x
    return { y, finals(g, all, 0), states == 2 and finals(g, all, 1) or nil }
  end
end

M.lstm, M.gru, M.rnn_tanh, M.rnn_relu = recurrent(2), recurrent(1), recurrent(1), recurrent(1)

return M
