-- wave: recurrent layers above one another at the same time. Each layer is a cluster of blocks, or one block (cell.lua), and so
-- is the product between two layers. A layer's step waits only for the same step of the layer below. So all layers are done after
-- little more than the steps of one; but there are fewer multiprocessors for the sequences of each layer.

local cells = require "cawb.compose.emit.cell.text"
local rates = require "cawb.compose.cost.rates"
local template = require "cawb.compose.emit.template"

local M = {}

local ceil = template.ceil

---@class cawb.CellWave: as cawb.Cell, of `layers` instead of cells; z is the layer, from 0, and nothing is reversed. `input`: weights of the
---  layer below. Its access functions:
local functions = {
  "float share(int t, int b, int column)",                            -- of layer 0
  "float input(int z, int k, int column)", "float input_bias(int z, int column)",
  "float bias(int z, int column)", "float weight(int z, int k, int column)",
  "float begin(int z, int b, int k)", "float cell(int z, int b, int k)",
  "void put(int z, int t, int b, int j, float next, float c)" }

local ROWS = 4                -- sums of a thread: of many sequences fewer lanes join their sums than of one, but a state is read more often
local LEAD = 2                -- steps that are waited for at a time
local BEHIND = 8              -- steps that a layer is behind the one below, with so many
local MOST = 1 << 28          -- numbers that layers tell each other

-- Numbers of states that layers tell those above them.
local function told(d) return (d.layers - 1) * d.steps * d.batch * d.hidden end

--- Seconds that layers take which do their steps one after the other.
function M.apart(d, h, chip) return rates.steps(chip, d.steps * ceil(d.batch, h.GROUPS * h.S), h.S) end

-- The groups that fit, and the sequences of each.
local function sequences(d, h, chip, most)
  local places = h.N > 1 and chip.clustered or chip.sms
  local groups = math.min(d.batch, places // (h.N * h.STAGES))
  if groups < 1 then return nil, ("%d layers at the same time need more multiprocessors"):format(d.layers) end
  h.S, h.BUFFERS = ceil(d.batch, groups), 2
  h.S = math.max(h.S, math.min(most or 1, d.batch))
  if cells.bytes(h) > chip.shared_block then return nil, ("the states of %d sequences do not fit shared memory"):format(h.S) end
  h.GROUPS = ceil(d.batch, h.S)
  h.PAIR = h.S > 1 and 2 or 1
  h.EACH, h.LOADS = ceil(h.S * h.U, h.THREADS), ceil(h.S * d.hidden, h.THREADS)
  return h
end

--- How it is divided; or nil and why it cannot be, as cells.divide. h.seconds: estimated.
function M.divide(d, chip, how)
  local one = setmetatable({ cells = 2 * d.layers - 1, rows = ROWS }, { __index = d })
  local h, why = cells.blocks(one, chip, how.blocks)
  if not h then return nil, why end
  if h.N > 1 and (h.N > cells.cluster or chip.cluster == 1) then return nil, "no cluster holds the weights" end
  if told(d) * d.gates > MOST then return nil, "what layers tell each other takes too much memory" end
  h.L, h.STAGES, h.LEAD = d.layers, 2 * d.layers - 1, LEAD
  h, why = sequences(d, h, chip, how.sequences)
  if h then h.seconds = rates.steps(chip, d.steps + BEHIND * (d.layers - 1), h.S) end
  return h, why
end

-- All stages have to be under way at once. CUDA does not capture a cooperative launch of clusters into a graph, so only `sequences`
-- ensures that there are places for all clusters.
local function launches(d, h)
  local elements, blocks = told(d), h.N * h.STAGES * h.GROUPS
  local done = { scratch = d.name .. "_done", dtype = "int32", numel = blocks, flag = true }
  return { { fill = done, value = 0 },
    { kernel = d.name, grid = { blocks }, block = { h.THREADS }, shared = cells.bytes(h), cluster = h.N > 1 and { h.N } or nil, cooperative = h.N == 1 or nil,
      arguments = template.arguments(d, { scratch = d.name .. "_states", dtype = "float32", numel = elements },
        { scratch = d.name .. "_shares", dtype = "float32", numel = elements * d.gates }, done) } }
end

--- Text and launches of a division.
function M.made(d, h)
  cells.sizes(d, h)
  cells.meeting(d, h)
  return { text = template.complete(d, template.functions(d, functions), template.fill("cell/cell_wave", d, h)), launches = launches(d, h),
           needs = h.N > 1 and { "cell", "meet", "join", "join_cluster" } or { "cell", "meet" }, seconds = h.seconds,
           how = ("%d layers at the same time, weights in registers of %d blocks for all steps"):format(d.layers, h.N * h.STAGES) }
end

return M
