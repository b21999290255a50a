-- packing: prologue fusion. Elementwise work on a factor of a product on tensor cores moves into the kernel that packs the factor,
-- which reads and writes every element anyway. The factor itself is then not stored.

local fuse = require "cawb.compose.schedule.fuse"
local tensors = require "cawb.compose.schedule.tensor_cores"

local M = {}

-- How many kernels read a node, by node.
local function readers(kernels)
  local count = {}
  for _, k in ipairs(kernels) do
    for _, y in ipairs(fuse.reads(k)) do count[y] = (count[y] or 0) + 1 end
  end
  return count
end

-- The stream that makes this node and nothing else.
local function maker(kernels, x)
  for _, k in ipairs(kernels) do
    if k.kind == "stream" and #k.roots == 1 and k.roots[1] == x then return k end
  end
end

-- The node that a factor shows, through views.
local function seen(x)
  while x.kind == "view" and not x.stored do
    if #x.pieces > 1 then return nil end
    x = x.inputs[x.pieces[1].input]
  end
  return x.kind ~= "leaf" and not x.is_output and x or nil
end

-- The kernels without those that make a's factors, where its packing can compute these; and the counts of readers then.
local function absorb(kernels, count, a, options)
  local anchor = a.members[1] or a.roots[1]
  for side = 1, a.kind == "conv" and 1 or 2 do
    local x = seen(anchor.inputs[side])
    local k = x and maker(kernels, x)
    if k and count[x] == 1 then
      local within = { [x] = true }
      local both = { kind = a.kind, name = a.name, roots = a.roots, members = a.members, within = within }
      if tensors.accepts(both, setmetatable({ within = within }, { __index = options })) then
        x.stored, kernels, a = nil, fuse.replaced(kernels, k, a, both), both
        count = readers(kernels)
      end
    end
  end
  return kernels, count
end

-- The loop that a schedule asks for. Without tensor cores the factors lie in memory.
local function loop_of(kernel, options)
  local how = options.kernels and options.kernels(kernel)
  return how and how.loop
end

--- The kernels, without those that only make a factor which its product's packing can compute.
function M.absorb(kernels, options)
  local count = readers(kernels)
  for _, a in ipairs({ table.unpack(kernels) }) do
    local loop = loop_of(a, options)
    local asked = loop ~= "library" and loop ~= "simt" and tensors.asked(options, loop)
    if asked and tensors.serves(a, asked) then kernels, count = absorb(kernels, count, a, asked) end
  end
  return kernels
end

return M
