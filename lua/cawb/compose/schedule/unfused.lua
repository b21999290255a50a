-- unfused: a source that is too long leaves products to libraries, those with the fewest operations first. What was fused to such a product has
-- kernels of its own again.

local graphs = require "cawb.compose.ir.graph"
local kernels = require "cawb.compose.schedule.kernels"
local library = require "cawb.compose.ir.library"
local lists = require "cawb.base.lists"
local tensors = require "cawb.compose.schedule.tensor_cores"

local M = {}

local calls = { product = true, conv = true }

-- Whether a library can compute the kernel's product from the tensors that would lie in memory then.
local function may_be_called(kernel)
  local x = kernels.anchor(kernel)
  if kernel.by ~= "tensor" or not calls[kernel.kind] or x.own or kernels.begins_sums(kernel) then return false end
  for _, y in ipairs(kernel.packed or {}) do y.stored = true end
  local fine = lists.all(x.inputs, function(input) return library.strided(x, input) end)
  for _, y in ipairs(kernel.packed or {}) do y.stored = nil end
  return fine
end

-- A result that lies in another tensor lies by itself, and is copied to where it lay: the copy.
local function moved(g, x)
  local copy = g:map("A", x.dtype, { x })
  copy.stored, copy.users, copy.strides, copy.offset, copy.slice_of = true, {}, x.strides, x.offset, x.slice_of
  x.strides, x.offset, x.slice_of = nil, nil, nil
  return copy
end

-- A kernel as streams that make its factors, the call, and a stream of what follows.
local function parts(g, kernel)
  local x, list, behind = kernels.anchor(kernel), {}, {}
  if x.slice_of then behind[1] = moved(g, x) end
  for k, y in ipairs(kernel.packed or {}) do
    y.stored = true
    list[k] = { kind = "stream", roots = { y }, members = {} }
  end
  x.stored, x.strides = true, x.strides or graphs.contiguous(x.shape)
  list[#list + 1] = { kind = kernel.kind, roots = { x }, members = {}, is_call = true }
  lists.append(behind, lists.filter(kernel.roots, function(root) return root ~= x end))
  if #behind > 0 then list[#list + 1] = { kind = "stream", roots = behind, members = {} } end
  return list
end

--- The kernels of a graph without the text of so many bytes; nil where no product is left that a library could compute. `bytes_of(kernel)`: of its text.
function M.shorter(g, list, excess, bytes_of)
  local small, gone, out = lists.filter(list, may_be_called), {}, {}
  table.sort(small, function(a, b) return tensors.operations(a) < tensors.operations(b) end)
  for _, kernel in ipairs(small) do
    if excess > 0 then gone[kernel], excess = true, excess - bytes_of(kernel) end
  end
  for _, kernel in ipairs(list) do lists.append(out, gone[kernel] and parts(g, kernel) or { kernel }) end
  return #small > 0 and out or nil
end

return M
