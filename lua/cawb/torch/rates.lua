-- rates: how fast classes of eager PyTorch's kernels are, which kernels.lua and windows.lua ask for. Fitted to times measured on an H200
-- (bench/results/torch/synth_confirm_h200.md says to which, and how well they hold for others); rows of scans, logarithms of a softmax and losses
-- of logits on an H100 (synth_confirm_h100.md). Bytes go by the device's own rate, and
-- the rest by a multiprocessor's clock, which an H100 and an H200 have alike. What single operators take beyond their class stands in the
-- table of operators (python/cawb_host/torch/operators.py, `slow`).

local M = {}

-- Of the rate that streams reach, for the bytes of a class.
M.reached = {
  plain = 1, reduce = 0.917, normalize = 0.9, statistics = 0.645, softmax = 1, scan = 0.57, column_scan = 0.645,
  logits = 0.84, cat = 0.92, odd_cat = 0.562, pool = 0.836, resize = 0.91, image = 0.325,
}

-- How often as long as one reading and one writing a softmax along columns takes: while what all threads are at stays in L2, where
-- it does not, and where several threads share a column.
M.times = { near = 3.2, far = 6.03, shared = 3.6, short = 0.673, logarithm = 0.57 }

-- Seconds on one multiprocessor: of a block, of a warp, of a step that a warp takes (`step`), of a step that a thread waits for (`wait`).
-- `offsets` and `turned`: of an elementwise kernel that computes where each element is, for tensors that are broadcast or parts; and
-- where neighbours of one tensor are far apart in another.
M.costs = {
  offsets_warp = 1.25e-08, turned_warp = 3.25e-08,
  reduce_warp = 2.8e-08, power_warp = 16e-9, norm_block = 2.88e-06, square_block = 1.34e-06, scalar_block = 1.79e-06,
  group_block = 3.44e-06, group_warp = 2.66e-06, channel_byte = 9.47e-11, plane_byte = 1.7e-10, channel_block = 2.56e-06,
  softmax_element = 7.5e-10, spatial_wait = 3.85e-07,
  average2_result = 3.23e-08, average2_step = 4.69e-10, average2_lane = 2.85e-10, average2_wait = 9.1e-09, average2_block = 7.42e-07,
  average3_result = 1.76e-07, average3_step = 2.08e-09, average3_lane = 2.75e-10, average3_wait = 1.6e-08, average3_block = 6.39e-07,
  most2_result = 3.61e-08, most2_step = 1.19e-09, most2_lane = 2.26e-10, most2_wait = 1.78e-08, most2_block = 9.64e-07,
  most3_result = 2.28e-07, most3_step = 1.86e-09, most3_lane = 1.68e-10, most3_wait = 1.42e-08, most3_block = 2.24e-07,
  average_apart = 2.51, most_apart = 3.3,
  mean_warp = 3.6e-08, mean_step = 1.76e-09, largest_warp = 3.46e-08, largest_step = 3.21e-09,
  volume_warp = 5.18e-08, volume_step = 3e-09, volume_block = 1e-06,
  nearest_warp = 1.17e-08, nearest_wait = 1.62e-08, linear_warp = 1.92e-08, linear_wait = 3.85e-07, fold_step = 3.7e-08,
  pad1_warp = 1.55e-08, pad2_warp = 2.37e-08, pad3_warp = 3.19e-08, pad_block = 8.46e-07,
  scan_row = 7.4e-07, long_scan_row = 1.33e-06, column_scan_warp = 7.18e-08, logarithm_warp = 3.23e-07, sort_warp = 2.27e-07, mode_row = 7.69e-07,
  select_warp = 4e-06, select_block = 8.17e-06, select_step = 4.83e-06, top_warp = 7.5e-06, top_block = 6.77e-06, top_step = 3.15e-06,
}

-- Seconds of launches that nothing hides: of a kernel for each image of a batch, of the few for each feature of a trilinear product, of
-- a recurrent cell's step. And of float32's rate, what a cell's products reach.
M.launches = { image = 5.1e-06, feature = 4.25e-05, cell = 1e-05 }
M.cell_products = 0.65

--- Seconds of so many bytes of a class.
function M.memory(bytes, class, rates) return bytes / (rates.dram * M.reached[class or "plain"]) end

local FEW = 4            -- waves, beyond which a part of one hardly matters

--- Seconds of `count` blocks of `threads`, each of which takes so long where as many run at once as find room.
function M.blocks(count, threads, seconds, rates)
  local waves = count / (rates.sms * math.min(32, 2048 // threads))
  return (waves < FEW and math.ceil(waves) or waves) * seconds
end

--- Seconds of `count` warps that take so long, one after the other on each multiprocessor.
function M.warps(count, seconds, rates) return count * seconds / rates.sms end

return M
