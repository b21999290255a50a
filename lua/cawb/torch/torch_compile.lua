-- torch_compile: what torch.compile makes of a graph, kernel by kernel, as Inductor's lowerings of PyTorch 2.11 have it: runs of pointwise operators,
-- reductions and scans are one kernel, whose intermediate tensors never leave the chip. Which operators it leaves to ATen, and what a
-- kernel does besides moving bytes, is inductor.lua's.

local eager = require "cawb.torch.eager"
local inductor = require "cawb.torch.inductor"
local libraries = require "cawb.torch.libraries"
local single = require "cawb.torch.single"
local tensors = require "cawb.torch.tensors"
local traits = require "cawb.torch.traits"

local M = {}

local bytes_of, product = tensors.bytes, tensors.product

-- Seconds that a kernel takes beyond its launch and its bytes, however small.
M.waits = { matmul = 3e-6, convolution = 2.2e-5, scan = 2e-6 }

-- torch.compile has convolutions of planes with channels last: how often the input goes through memory
-- on the way there, and a result that nothing else takes on the way back; and what those without a sum
-- over channels lose by it.
M.turned, M.depthwise_turned = 2.6, 5.5

local fusible = { pointwise = true, reduction = true, normalization = true }

--- A list of operators for each kernel: runs of neighbours that one could be made of. What only moves elements is how the next one finds its operands, and begins a run:
-- of a sum there is nothing to be found before it is written.
function M.kernels(graph)
  local list, open = {}, nil
  for _, op in ipairs(graph) do
    local turns = inductor.turns(op)
    local fuses = not inductor.leaves(op) and (turns or fusible[op.kind] or single.is_scan(op))
    if not (fuses and open) or turns then
      open = {}
      list[#list + 1] = open
    end
    open[#open + 1] = op
    if not fuses then open = nil end
  end
  return list
end

--- Bytes that a group writes: indices that nobody asked for are not made.
function M.made(group)
  local op = group[#group]
  if not traits.of(op, "byproduct") or not op.outputs then return op.bytes_written end
  return bytes_of(op.outputs[1])
end

-- Of a reduction of more than a block keeps, what is read before is gone.
local function forgets(op)
  local input, output = op.inputs[1], (op.outputs or {})[1]
  if op.kind ~= "reduction" or not input or not output then return false end
  return bytes_of(input) / math.max(1, product(output.shape)) > single.kept
end

-- What a group reads and does not make itself, each tensor once.
local function bytes_in(group)
  local inside, seen, bytes = {}, {}, 0
  for _, op in ipairs(group) do
    local own = 0
    for _, input in ipairs(op.inputs) do
      if inside[input.source] or seen[input.source] then own = own + bytes_of(input) end
    end
    for _, input in ipairs(op.inputs) do seen[input.source] = input.source ~= "const" end
    bytes = bytes + math.max(0, single.bytes_read(op) - own) + single.reads_again(op, 1)
    inside["op:" .. op.number] = true
    if forgets(op) then seen = {} end
  end
  return bytes
end

-- A convolution of planes with channels last: what that adds.
local function turning(op, is_last, rates)
  local input, weight = op.inputs[1], op.inputs[2]
  if #input.shape ~= 4 or ((op.args.groups or 1) > 1 and weight.shape[2] > 1) then return 0 end
  local bytes = (input.source:find "^op:" and 0 or bytes_of(input)) + (is_last and op.bytes_written or 0)
  local alone = libraries.is_depthwise(op) and (M.depthwise_turned - 1) * libraries.convolution(op, rates) or 0
  return 2 * M.turned * bytes / rates.dram + alone
end

local function wait_of(group)
  local wait = 0
  for _, op in ipairs(group) do wait = math.max(wait, single.by_kind(M.waits, op) or 0) end
  return wait
end

--- Seconds of one of its kernels: a group of operators. `place`: where the first one's tensors lie, if it is known.
function M.seconds(group, is_last, rates, place)
  local first = group[1]
  if inductor.leaves(first) then return eager.seconds(first, rates, place) end
  local memory = (bytes_in(group) + M.made(group)) / (rates.dram * inductor.reached(group))
  local seconds = inductor.beside(group, single.work(first, memory, rates), rates)
  if first.kind == "convolution" then seconds = seconds + turning(first, is_last, rates) end
  return seconds + wait_of(group)
end

return M
