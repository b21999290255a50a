-- packing: prologue fusion. Elementwise work on a factor of a product on tensor cores moves into the kernel that packs the factor,
-- which reads and writes every element anyway. The factor itself is then not stored.

local kernels = require "cawb.compose.schedule.kernels"
local tensors = require "cawb.compose.schedule.tensor_cores"

local M = {}

-- The node that a factor shows, through views.
local function seen(x)
  while x.kind == "view" and not x.stored do
    if #x.pieces > 1 then return nil end
    x = x.inputs[x.pieces[1].input]
  end
  return x.kind ~= "leaf" and not x.is_output and x or nil
end

-- The streams that make a factor of kernel a and nothing else, and that nobody else reads.
function M.edges(state)
  local list = {}
  for _, a in ipairs(state.list) do
    for side = 1, a.kind == "conv" and 1 or a.kind == "product" and 2 or 0 do
      local x = seen(kernels.anchor(a).inputs[side])
      local k = x and state:owner(x)
      if k and k.kind == "stream" and #k.roots == 1 and state:only_reader(x) then list[#list + 1] = { k, a } end
    end
  end
  return list
end

-- The options for a kernel's loop, which a schedule may ask for. Without tensor cores the factors lie in memory.
local function asked(kernel, options)
  local how = options.kernels and options.kernels(kernel)
  local loop = how and how.loop
  return loop ~= "library" and loop ~= "simt" and tensors.asked(options, loop)
end

function M.joined(state, edge)
  local a, options = edge[2], asked(edge[2], state.options)
  if not options or not tensors.serves(a, options) then return nil end
  local x, packed = edge[1].roots[1], { table.unpack(a.packed or {}) }
  local within = { [x] = true }
  packed[#packed + 1] = x
  local both = { kind = a.kind, roots = a.roots, members = a.members, within = within, packed = packed }
  return tensors.accepts(both, setmetatable({ within = within }, { __index = options })) and both
end

function M.settle(state, edge, both)
  edge[1].roots[1].stored = nil
  state:replace(edge, both)
end

return M
