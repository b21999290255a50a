-- torch_compile: what torch.compile makes of a graph, kernel by kernel, as Inductor's lowerings of PyTorch 2.11 have it: runs of pointwise operators, windows,
-- reductions and scans are one kernel, whose intermediate tensors never leave the chip. Which operators it leaves to ATen, and what a
-- kernel does besides moving bytes, is inductor.lua's.

local eager = require "cawb.torch.eager"
local inductor = require "cawb.torch.inductor"
local libraries = require "cawb.torch.libraries"
local lists = require "cawb.base.lists"
local single = require "cawb.torch.single"
local tensors = require "cawb.torch.tensors"
local traits = require "cawb.torch.traits"

local M = {}

local bytes_of, product = tensors.bytes, tensors.product

-- Seconds that a kernel takes beyond its launch and its bytes, however small.
M.waits = { matmul = 3e-6, convolution = 2.2e-5, scan = 2e-6 }

-- Seconds of any of its kernels. Fitted to 58 texts of one elementwise kernel on an H200, where torch.compile takes 0.97 of a candidate's time
-- (bench/results/learn/lm_confirm_h200.txt).
M.least = 2e-7

-- torch.compile has convolutions of planes with channels last: how often the input goes through memory
-- on the way there, and a result that nothing else takes on the way back; and what those without a sum
-- over channels lose by it.
M.turned, M.depthwise_turned = 2.6, 5.5

local fusible = { pointwise = true, reduction = true, normalization = true }

-- A set of the tensors that an operator's result reads where it is computed in place; `many` stands for further elements, of a window or a sum. `values`:
-- such sets of the kernel's other operators, by source. A convolution's bias is added by the next kernel, so it counts.
local function reads_of(op, values, biased)
  local set = { many = inductor.is_window(op) or op.kind ~= "pointwise" or nil }
  for _, input in ipairs(op.inputs) do
    local inside = values[input.source] or product(input.shape) > 1 and { [input.source] = true } or {}
    for source in pairs(inside) do set[source] = true end
    set["bias of " .. input.source] = biased[input.source]
  end
  return set
end

-- Whether a window has to find such a value in memory: what reads one tensor is computed anew for each place of the window (realize_hint in
-- torch/_inductor/ir.py).
local function is_written(set) return next(set, next(set)) ~= nil end

local function is_biased(op) return op.kind == "convolution" and op.inputs[3] ~= nil end

local function fuses(op)
  return not inductor.leaves(op) and (inductor.turns(op) or inductor.is_window(op) or fusible[op.kind] or single.is_scan(op))
end

-- Whether an operator begins a kernel though the one before is open: what only moves elements, since of a sum there is nothing to be found
-- before it is written, and a window over what is not in memory.
local function begins(op, values)
  return inductor.turns(op) or inductor.is_window(op) and lists.any(op.inputs, function(input)
    return values[input.source] and is_written(values[input.source])
  end)
end

--- A list of operators for each kernel: runs of neighbours that one could be made of. What only moves elements is how the next one finds its operands.
function M.kernels(graph)
  local list, open, values, biased = {}, nil, {}, {}
  for _, op in ipairs(graph) do
    if not (open and fuses(op)) or begins(op, values) then
      open, values = {}, {}
      list[#list + 1] = open
    end
    open[#open + 1] = op
    values["op:" .. op.number], biased["op:" .. op.number] = reads_of(op, values, biased), is_biased(op) or nil
    if not fuses(op) then open = nil end
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
