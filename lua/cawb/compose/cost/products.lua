-- products: seconds of products and convolutions on tensor cores, and the sizes from which on a way pays. The chip comes first.

local rates = require "cawb.compose.cost.rates"

local M = {}

local STREAM, PACKED, BOXES = 0.93, 0.86, 1      -- of memory's rate: matrices, packed convolutions, boxes

local function ceil(a, b) return (a + b - 1) // b end

-- ---- sizes

--- Operations below which a library's call is as good as packing and multiplying: three launches' worth.
function M.least(chip) return rates.power(3 * chip.launch * rates.library(chip)) end

--- Operations from which on `launches` more launches take no more than this share of the time.
function M.negligible(chip, launches, share) return rates.power(launches * chip.launch_next / share * rates.exact(chip)) end

--- Bytes below which it is launches that count.
function M.large(chip) return rates.power(8 * chip.launch_next * chip.dram) end

--- Bytes of results that no cache holds.
function M.streamed(chip) return rates.power(2.5 * chip.l2) end

--- Bytes that a packed factor may take.
function M.room(chip) return math.floor(0.15 * chip.memory) end

-- ---- packed factors

--- Seconds of a product of matrices that moves so many bytes; by a library without tensor cores.
function M.matrix(chip, bytes, operations) return rates.both(bytes / (STREAM * chip.dram), operations / rates.exact(chip), 0.3) end

function M.library(chip, bytes, operations) return rates.both(bytes / (STREAM * chip.dram), operations / rates.library(chip), 0.3) end

local PLAIN = 0.42           -- of the rate of float32: batches of small products by a kernel of ours, on an H200

--- The same by a plain kernel of ours.
function M.plain(chip, bytes, operations) return rates.both(bytes / (STREAM * chip.dram), operations / (PLAIN * chip.fp32), 0.3) end

local CACHE = 0.4            -- of the rate of L2: parts of sums that are written and read
local WAIT, AROUND = 3, 24  -- of memory's latency: a step of a plain tile; products that a row or a column of a tile costs beside its own

-- Seconds of a step of a tile, on a multiprocessor to itself.
local function step_work(chip, rows, columns, deep) return 2 * deep * (rows * columns + AROUND * (rows + columns)) * chip.sms / chip.fp32 end

-- Seconds in which all blocks write, or read, the parts of sums; and those of a kernel that adds them up.
local function passed(chip, parts, numel) return 4 * parts * numel / (CACHE * chip.l2_rate) end
local function apart(chip, parts, numel) return chip.launch + 2 * passed(chip, parts, numel) end

--- Seconds of a grid of plain tiles, each of `rows` by `columns` results and in `parts` parts of its `steps` steps of `deep` terms. A step
--- waits for its factors; blocks beside each other on a multiprocessor wait together. `numel`: results, whose parts another kernel adds up.
function M.plain_tiles(chip, tiles, rows, columns, deep, parts, steps, numel)
  local blocks = math.max(1, tiles * parts / chip.sms)
  local work = step_work(chip, rows, columns, deep)
  return ceil(steps, parts) * rates.both(WAIT * chip.latency_dram, blocks * work, 0.3) + (parts > 1 and apart(chip, parts, numel) or 0)
end

-- Of products with a short side, as 151 had them on an H200, within 8%: clocks in which a kernel begins, adds up slices and writes; a meeting of two
-- halves of a cluster, as a multiple of its latency; blocks that keep tensor cores of a multiprocessor busy; the share of their rate. Clocks of a thread for
-- a number that is read by itself are a guess.
local BEGUN, MEET, BUSY, KEPT, GATHER = 6700, 0.64, 1.45, 0.55, 30

--- Seconds of a product with a short side. `t`: a choice of emit/product/skinny.lua; `bytes`: of both factors. A multiprocessor has `beside` blocks, which lay
--- down their part of the short factor, and multiply while the next steps are under way; clusters do not find all multiprocessors.
function M.skinny(chip, t, bytes)
  local sms = t.cluster > 1 and chip.clustered or chip.sms
  local rounds, beside = ceil(t.blocks, t.beside * sms), t.blocks > chip.clustered and t.beside or 1
  local terms = 4 // t.across * t.part
  local laid = t.few * terms * (t.wide and 4 / chip.l2_sm or GATHER / 128) / chip.clock
  local rate = KEPT * rates.tensor(chip, "mma") * chip.tf32 / chip.fp16
  local multiplied = (t.exact and 1 or 3) * 2 * t.few * 32 * t.across * terms * chip.sms / rate
  local waits = ceil(t.part, 16 * t.depth) * WAIT * chip.latency_dram
  local moved = math.max(bytes / (STREAM * chip.dram), 4 * t.blocks * terms * (t.few + 32 * t.across) / chip.l2_rate)
  return rates.both(moved, rounds * rates.both(waits, beside * laid + math.max(beside, BUSY) * multiplied, 0.3), 0.3)
    + (BEGUN + MEET * chip.latency_cluster * math.log(t.cluster, 2)) / chip.clock
end

--- Seconds of a convolution that moves so many bytes and executes so many terms, each of `products` products.
function M.conv(chip, bytes, terms, products) return bytes / (PACKED * chip.dram) + 2 * terms * products / rates.packed(chip) end

local STEP = 0.72            -- of the rate: a step of a tile

--- Seconds in which parts of sums are added up, and whether the last block of a tile to arrive does that; else a kernel more does. A
--- tile has `rows` by `columns` results; `numel`: results of all tiles.
function M.summed(chip, tiles, parts, rows, columns, numel)
  if parts == 1 then return 0, false end
  local all = passed(chip, parts, numel)
  local rate = math.min(chip.l2_sm * chip.clock, chip.l2_rate / math.min(tiles, chip.sms))
  local last = all + 2 * chip.latency_fence / chip.clock + 4 * parts * rows * columns / rate
  local other = apart(chip, parts, numel)
  return math.min(last, other), last <= other
end

--- Seconds of a grid of `tiles` tiles, each of `rows` by `columns` results and in `parts` parts of its `steps` steps of 64 terms. A step
--- takes as long as its reads of both factors; `widest`: columns of the tile that STEP is of. `numel`: results.
function M.tiles(chip, tiles, rows, columns, widest, parts, steps, numel)
  local step = 2 * rows * widest * 64 * rates.PRODUCTS * chip.sms / (STEP * rates.tensor(chip))
  local item = 4 * rows * widest * chip.sms / chip.l2_rate
  local rounds = ceil(tiles * parts, chip.sms) * (ceil(steps, parts) * step * (rows + columns) / (rows + widest) + item * columns / rows)
  return rounds + M.summed(chip, tiles, parts, rows, columns, numel)
end

-- ---- 16-bit numbers as they are, by guesses for an H100 that no measurement has confirmed

local COMES = 0.75           -- of the rate of L2: factors that come meanwhile
local LEAST, FIXED, EACH = 300, 1500, 10      -- clocks of a step at least; of a tile beside its steps, and for each column

--- Seconds of a grid of tiles, as of M.tiles; `near`: steps that share the left factor's rows. Floats of 8 bits are words of two: these have the same rate.
function M.sixteen(chip, loop, tiles, rows, columns, parts, steps, numel, near)
  local step = math.max(LEAST / chip.clock, 2 * rows * columns * 64 * chip.sms / rates.tensor(chip, loop),
    (rows / (near or 1) + columns) * 128 * chip.sms / (COMES * chip.l2_rate))
  local rounds = ceil(tiles * parts, chip.sms) * (ceil(steps, parts) * step + (FIXED + EACH * columns) / chip.clock)
  return rounds + M.summed(chip, tiles, parts, rows, columns, numel)
end

-- ---- factors that are not packed

local LOADED = 0.86          -- of the clock, while tensor cores work
local PUT = 10               -- clocks of a warp, for 32 results or 32 numbers that are split
local STEPCLOCKS = 150       -- clocks of a warp for a step of 16 terms, beside its products: six convolutions on an H200
local LOOP = 0.68            -- of the rate of the loop's instruction, in either loop

-- Clocks a second of all schedulers.
local function issue(chip) return LOADED * chip.clock * chip.issue * chip.sms end

--- Clocks of a warp for a product of its sixteen rows, sixteen terms and eight columns.
function M.warp_clocks(chip, loop) return 2 * 16 * 16 * 8 * issue(chip) / (LOOP * rates.tensor(chip, loop)) end

--- Clocks of a warp for a step of sixteen terms by mma.
function M.step_clocks(chip, tiles, products) return STEPCLOCKS + M.warp_clocks(chip, "mma") * tiles * products end

--- Seconds of boxes: `clocks` of warps in all, so many numbers split and results put, and bytes.
function M.boxes(chip, clocks, numbers, bytes)
  return rates.both(bytes / (BOXES * chip.dram), (clocks + numbers / 32 * PUT) / issue(chip), 0.3)
end

local SPLIT = 33             -- instructions that split a number into three parts
local DENSE = 0.93           -- of the rate: six products from shared memory
local START = 4000           -- clocks in which a block begins and ends

--- Seconds of a product whose left factor is split on the way: `turns` tiles a multiprocessor, one after the other, of 128 rows and
--- `columns`; `pieces` of 32 terms.
function M.gathered(chip, turns, pieces, columns)
  local split = 128 * 32 * SPLIT * chip.sms / (chip.fp32 / 2)
  local multiply = 2 * 128 * 32 * 6 * columns * chip.sms / (DENSE * rates.tensor(chip))
  return turns * pieces * math.max(split, multiply) + START / (LOADED * chip.clock)
end

--- Seconds of it beside its bytes.
function M.point(chip, bytes, seconds) return rates.both(bytes / (STREAM * chip.dram), seconds, 0.2) end

return M
