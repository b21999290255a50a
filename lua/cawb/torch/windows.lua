-- windows: seconds of eager PyTorch's kernels that pool, resize and pad: each thread makes one result and goes through its window alone.

local rates_of = require "cawb.torch.rates"
local tensors = require "cawb.torch.tensors"

local M = {}

local costs, blocks, warps = rates_of.costs, rates_of.blocks, rates_of.warps
local product = tensors.product

local function memory(op, class, rates) return rates_of.memory(op.bytes_read + op.bytes_written, class, rates) end

local function made(op) return product(op.outputs[1].shape) end

-- Rows, columns and planes of a result.
local function planes_of(op)
  local out = op.outputs[1].shape
  local h, w = out[#out - 1] or 1, out[#out] or 1
  return h, w, product(out) / (h * w)
end

-- Steps of a thread through a window that is a share of the input in the last dimensions.
local function share(op, rank)
  local a, b, n = op.inputs[1].shape, op.outputs[1].shape, 1
  for d = 0, rank - 1 do n = n * math.max(1, math.ceil((a[#a - d] or 1) / (b[#b - d] or 1))) end
  return n
end

-- A block of 32 by 8 threads for each plane (adaptive_average_pool, adaptivemaxpool), and more where there are few channels, that have nothing
-- to do: of 2 by 2 results four threads work.
local function adaptive(rank, kind)
  local function cost(name) return costs[kind .. rank .. "_" .. name] end
  return function(op, rates)
    local h, w, planes = planes_of(op)
    local input = op.inputs[1].shape
    local more = rank == 2 and math.max(1, 16 // (input[#input - 2] or 1)) or 1
    local apart = (input[#input] or 1) % (8 * w) == 0 and 1 or costs[kind .. "_apart"]
    local results, steps = math.ceil(h / (8 * more)) * math.ceil(w / 32), share(op, rank)
    return math.max(memory(op, "pool", rates), blocks(planes * more, 256, cost "block", rates),
      blocks(planes, 256, cost "block" + results * steps * apart * cost "wait", rates),
      warps(planes * h * math.ceil(w / 32), cost "result" + steps * (cost "step" + cost "lane" * math.min(w, 32)), rates))
  end
end

M._adaptive_avg_pool2d, M._adaptive_avg_pool3d = adaptive(2, "average"), adaptive(3, "average")
M.adaptive_max_pool2d, M.adaptive_max_pool3d = adaptive(2, "most"), adaptive(3, "most")

local function window(op, rank)
  local list = op.args.kernel_size
  if type(list) ~= "table" then return list ^ rank end
  return #list == 1 and list[1] ^ rank or product(list)
end

-- Threads in one row over all results.
local function plane_pool(kind)
  return function(op, rates)
    return math.max(memory(op, "pool", rates),
      warps(made(op) / 32, costs[kind .. "_warp"] + window(op, 2) * costs[kind .. "_step"], rates))
  end
end

-- Blocks of 32 by 8 threads over each plane: of narrow planes most threads have nothing to do.
local function volume_pool(op, rates)
  local h, w, planes = planes_of(op)
  return math.max(memory(op, "pool", rates), blocks(planes * math.ceil(h / 8) * math.ceil(w / 32), 256, costs.volume_block, rates),
    warps(planes * h * math.ceil(w / 32), costs.volume_warp + window(op, 3) * costs.volume_step, rates))
end

M.avg_pool2d, M.max_pool2d_with_indices, M.avg_pool3d, M.max_pool3d_with_indices = plane_pool "mean", plane_pool "largest", volume_pool, volume_pool

-- Of what is picked from, a sector for each result at most.
local function nearest(rank)
  return function(op, rates)
    local out = op.outputs[1].shape
    local bytes = math.min(op.bytes_read, 32 * made(op)) + op.bytes_written
    local planes = product(out, 1, #out - rank)
    return math.max(rates_of.memory(bytes, "resize", rates), warps(made(op) / 32, costs.nearest_warp, rates),
      rank ~= 2 and planes * costs.nearest_wait or 0)
  end
end

M.upsample_nearest1d, M.upsample_nearest2d, M.upsample_nearest3d = nearest(1), nearest(2), nearest(3)

-- A thread for each place of the plane goes through all images and channels: of a small plane few threads work, for long. `points`: along
-- a dimension, what a result is made of.
local function interpolate(rank, points)
  return function(op, rates)
    local out = op.outputs[1].shape
    local places, more = product(out, #out - rank + 1), points / 2
    return math.max(memory(op, "resize", rates), product(out) / places * costs.linear_wait * more,
      warps(made(op) / 32, costs.linear_warp * more, rates))
  end
end

M.upsample_linear1d, M.upsample_bilinear2d, M.upsample_trilinear3d = interpolate(1, 2), interpolate(2, 2), interpolate(3, 2)
M.upsample_bicubic2d = interpolate(2, 4)

-- Blocks of 256 threads for each plane by itself.
local function pad(rank)
  return function(op, rates)
    local out = op.outputs[1].shape
    local plane = product(out, #out - rank + 1)
    return math.max(memory(op, "plain", rates), blocks(product(out) / plane * math.ceil(plane / 256), 256, costs.pad_block, rates),
      warps(made(op) / 32, costs[("pad%d_warp"):format(rank)], rates))
  end
end

for rank = 1, 3 do
  M[("reflection_pad%dd"):format(rank)], M[("replication_pad%dd"):format(rank)] = pad(rank), pad(rank)
end

-- A kernel for each image of the batch.
function M.im2col(op, rates)
  local shape = op.inputs[1].shape
  return (#shape == 4 and shape[1] or 1) * rates_of.launches.image + memory(op, "image", rates)
end

function M.col2im(op, rates) return warps(made(op) / 32, window(op, 2) * costs.fold_step, rates) end

return M
