-- row_pitch: results of products on tensor cores that only such products read again. Where a row is no whole number of sectors, each
-- store of a tile would write parts of two. Their rows begin a sector each, and the rest of a row's last sector is nobody's.

local generators = require "cawb.compose.schedule.generators"
local graphs = require "cawb.compose.ir.graph"
local kernels_of = require "cawb.compose.schedule.kernels"
local lists = require "cawb.base.lists"

local M = {}

local SECTOR = 8          -- numbers of four bytes
local LEAST = 1 << 20     -- numbers of a result that caches do not make up for

local function on_tensor_cores(k, options)
  local found = k.kind == "product" and generators.accepts(k, options)
  return found and found.by == "tensor"
end

-- Whether a result's rows would share sectors, and it may lie otherwise: with gaps between rows.
local function is_ragged(x, least)
  local rank = #x.shape
  return x.dtype == "float32" and rank > 1 and x.shape[rank] % SECTOR ~= 0 and graphs.numel(x.shape) >= least
    and not (x.is_output or x.slice_of or x.slices) and graphs.same(x.strides, graphs.contiguous(x.shape))
end

--- Sets the strides of such results, and `extent`, the elements that they take, of kernels that are fused.
--- `options.ragged`: the least numbers of such a result.
function M.apply(kernels, options)
  if options.tensor_cores == false or not options.chip.tensor then return end
  local state, known = kernels_of.new(kernels), {}
  local function serves(k)
    if known[k] == nil then known[k] = on_tensor_cores(k, options) or false end
    return known[k]
  end
  for _, k in ipairs(kernels) do
    for _, x in ipairs(k.roots) do
      if k.kind == "product" and is_ragged(x, options.ragged or LEAST) and serves(k) and lists.all(state:readers(x), serves) then
        local shape = { table.unpack(x.shape) }
        shape[#shape] = (shape[#shape] + SECTOR - 1) // SECTOR * SECTOR
        x.strides, x.extent = graphs.contiguous(shape), graphs.numel(shape)
      end
    end
  end
end

return M
