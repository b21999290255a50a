-- grids: lists of whole numbers as sizes of grids and as places in them, for convolutions on tensor cores.

local graphs = require "cawb.compose.ir.graph"
local lists = require "cawb.base.lists"

local M = {}

M.product = graphs.numel

M.joined = lists.joined

--- Every choice of one number below each of `counts`, the last fastest.
function M.combinations(counts)
  return lists.times(M.product(counts), function(number)
    local digits, rest = {}, number - 1
    for d = #counts, 1, -1 do digits[d], rest = rest % counts[d], rest // counts[d] end
    return digits
  end)
end

--- The number of such a choice among all.
function M.ravel(digits, counts)
  local n = 0
  for d, c in ipairs(counts) do n = n * c + digits[d] end
  return n
end

--- Along an axis, the taps that meet outputs of remainder `r` by the stride: { place in the window, shift of the input }, ...
function M.met(window, stride, padding, dilation, r)
  local list = {}
  for k = 0, window - 1 do
    local from = r + padding - k * dilation
    if from % stride == 0 then list[#list + 1] = { k, from // stride } end
  end
  return list
end

--- Places along a dimension of a grid whose rows lie behind each other: `out` places, each read up to `reach` further on. Place p is
--- input p * stride + offset, of `size` inputs; `spread`: how much larger it may be. Zeros behind a row are those ahead of the next one,
--- where both are all zeros.
function M.places(out, reach, stride, offset, size, spread)
  for places = out, out + reach - 1 do
    if places * stride + offset >= size and (out - 1 + reach - places) * stride + spread + offset < 0 then return places end
  end
  return out + reach
end

return M
