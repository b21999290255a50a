-- inductor: what the kernels that torch.compile writes do besides moving bytes, by what PyTorch 2.11's Inductor has
-- (torch/_inductor/lowering.py, ir.py, runtime/triton_heuristics.py). Constants are fitted to rows of bench/results/torch/baselines_suite_h100.txt,
-- which says to which.

local core = require "cawb.core"
local single = require "cawb.torch.single"
local tensors = require "cawb.torch.tensors"
local traits = require "cawb.torch.traits"

local M = {}

local product = tensors.product

-- Of memory's rate, what reductions reach; and what is read one element at a time: 16 bytes are loaded at once only where every row
-- begins at such a place and is read forwards.
M.rates = { reduction = 1 / 1.08, uneven = 0.79 }

-- Seconds of a multiprocessor: of a warp for a place of a small window, which is written out, and of a large one, which is a loop with
-- indices computed anew, 64 bits wide for more than 2^31 elements; of a warp for each element of a scan. Seconds of a block: for a row that
-- it normalises, and for each of the pieces that it reads it in.
M.costs = { window = 1.5e-9, loop = 6.95e-9, wide = 1.45, scan = 7.3e-9, row = 2.2e-6, piece = 9e-7 }

local UNROLLED, PIECE, WARPS = 25, 2048, 512    -- places of a window; elements of a row read at once, by so many threads

local function window_of(op)
  local args = op.args or {}
  local size, rank = args.kernel_size, tonumber((op.name or ""):match "pool(%d)d")
  if not size or not rank then return nil end
  if type(size) ~= "table" then return size ^ rank, size, args.stride end
  return #size == 1 and size[1] ^ rank or product(size), size, args.stride
end

-- A mean over large windows that lie apart or one over the other.
local function is_other_mean(op)
  local places, size, stride = window_of(op)
  if not places or places <= UNROLLED or not op.name:find "avg" or type(stride) ~= "table" then return false end
  for d, s in ipairs(stride) do
    if s ~= (type(size) == "table" and (size[d] or size[1]) or size) then return true end
  end
  return false
end

--- Whether torch.compile leaves an operator to eager's kernel: recurrent layers, which Dynamo does not trace, what has no lowering, and volumes
--- cut into as many parts.
function M.leaves(op) return traits.of(op, "left") or (op.name or ""):find "adaptive_%a+_pool3d$" or is_other_mean(op) end

--- Whether it reads windows, in a kernel that operators behind it may be in.
function M.is_window(op) return window_of(op) ~= nil end

local moves = { flip = true, roll = true }

--- Whether it only says where the next operator finds its operands.
function M.turns(op) return moves[op.name] == true end

local function last_of(shape) return shape[#shape] or 1 end

-- Whether the rows of what is reduced or summed up begin anywhere.
local function is_uneven(op)
  local input = op.inputs[1]
  if M.turns(op) then return true end
  if not input or not (op.kind == "reduction" or single.is_scan(op)) then return false end
  return last_of(input.shape) % 4 ~= 0
end

--- Of memory's rate, what a kernel of these operators reaches.
function M.reached(group)
  for _, op in ipairs(group) do
    if is_uneven(op) then return M.rates.uneven end
  end
  return group[1].kind == "reduction" and M.rates.reduction or 1
end

local function made(op) return op.outputs and op.outputs[1] and product(op.outputs[1].shape) or 0 end

-- A thread for each result goes through the window.
local function windows(op)
  local places = window_of(op)
  if not places then return 0 end
  if places <= UNROLLED then return made(op) / 32 * places * M.costs.window end
  local wide = product(op.inputs[1].shape) >= 2 ^ 31 and M.costs.wide or 1
  return made(op) / 32 * places * M.costs.loop * wide
end

-- A block for each row along which is normalised, of which a multiprocessor holds a few; few long ones are cut.
local function rows(op, rates)
  local n, input = single.group_of(op), op.inputs[1]
  if not n or (op.args.dim and tensors.dimension(op.args.dim, input.shape) ~= #input.shape) then return 0 end
  local count = product(input.shape) / n
  if count < 2 * rates.sms then return 0 end
  return count * math.min(WARPS, n / 4) / 2048 * (M.costs.row + math.ceil(n / PIECE) * M.costs.piece)
end

local function steps(op, rates)
  if single.is_scan(op) then return made(op) / 32 * M.costs.scan end
  return op.kind == "normalization" and rates.sms and rows(op, rates) or windows(op)
end

--- Seconds of a kernel of these operators, whose memory takes so many by itself.
function M.beside(group, memory, rates)
  local work = 0
  for _, op in ipairs(group) do work = work + steps(op, rates) end
  if work == 0 or not rates.sms then return memory end
  return core.times.norm(rates.sharpness or math.huge, memory, work / rates.sms)
end

return M
