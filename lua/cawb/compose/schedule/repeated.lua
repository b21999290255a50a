-- repeated: kernels that compute the same of tensors that lie alike are generated once. In a network of equal blocks each block but
-- the first then takes a comparison of its kernels' keys. A key is the kernel's nodes down to the stored ones that it reads, each
-- as a line, with numbers in place of the nodes; a text depends on nothing else but the kernel's name.

local generators = require "cawb.compose.schedule.generators"
local kernels = require "cawb.compose.schedule.kernels"
local keys = require "cawb.compose.ir.keys"
local lists = require "cawb.base.lists"
local prepared = require "cawb.compose.ir.prepared"
local replace = require "cawb.compose.ir.replace"

local M = {}

-- Fields of a node that the line has by itself, or that no text depends on.
local apart = {}
for name in ([[id kind shape dtype inputs pieces users from source label demand cost deep wanted refused made_of persistent is_light
    is_output slice_of slices strides offset stored]]):gmatch "%S+" do apart[name] = true end

-- A value as text; `number(x)` is that of a node.
local function value_text(v, number)
  if type(v) ~= "table" then return tostring(v) end
  if v.kind and v.inputs then return "%" .. number(v) end
  if v.op and v.type then return "=" .. v.id end                        -- equal trees are one table
  if v.terms then return v.key end
  if type(v[1]) == "number" and next(v, #v) == nil then return "{" .. table.concat(v, ",") .. "}" end
  local words = lists.map(keys(v), function(name) return tostring(name) .. "=" .. value_text(v[name], number) end)
  return "{" .. table.concat(words, ",") .. "}"
end

local function is_below(kernel, own, x) return x.stored and not own[x] and not (kernel.within and kernel.within[x]) end

-- A stored node that is read, or a leaf: how it lies in memory.
local function read_text(x, number)
  return table.concat({ x.kind == "leaf" and x.source:match "^[^:]*" or "stored", x.dtype, value_text(x.shape, number), value_text(x.strides, number),
    tostring(x.offset), tostring(prepared.is(x)), x.values and value_text(x.values, number) or "", tostring(x.value) }, " ")
end

-- A node that only a field still names, as the sum of a mean that is taken by parts now, has no users.
local function node_text(x, number)
  local users = x.users or {}
  local words = { x.kind, x.dtype, value_text(x.shape, number), value_text(x.inputs, number), x.pieces and value_text(x.pieces, number) or "",
                  value_text(x.strides, number), tostring(x.offset), tostring(not x.stored), tostring(x.is_output ~= nil), tostring(prepared.is(x)),
                  #users == 1 and users[1].kind or tostring(#users) }
  for _, name in ipairs(keys(x, apart)) do
    if not name:find " " then words[#words + 1] = name .. "=" .. value_text(x[name], number) end
  end
  return table.concat(words, " ")
end

--- What a kernel's text depends on but for its name, and its nodes in the order of their numbers. `how`: its options in a schedule.
--- nil for a kernel of more nodes than `most`.
function M.key(kernel, how, most)
  local numbers, nodes, wholes, own = {}, {}, {}, kernels.inside(kernel)
  local function number(x)
    if not numbers[x] then
      nodes[#nodes + 1] = x
      numbers[x] = #nodes
    end
    return numbers[x]
  end
  local words = { kernel.kind, value_text(how, number), tostring(kernel.wave), tostring(kernel.is_call), value_text(kernel.roots, number), value_text(kernel.members, number),
                  value_text(kernel.attend, number) }
  local k = 1
  while nodes[k] do
    if #nodes > (most or math.huge) then return nil end
    local x = nodes[k]
    local whole = x.slice_of or x
    wholes[whole] = wholes[whole] or k                                   -- slices of one tensor are one parameter
    local marks = wholes[whole] .. (kernel.held and kernel.held[x] and "held " or "") .. (kernel.within and kernel.within[x] and "within " or "")
    words[#words + 1] = marks .. ((x.kind == "leaf" or is_below(kernel, own, x)) and read_text(x, number) or node_text(x, number))
    k = k + 1
  end
  return table.concat(words, "\n"), nodes
end

-- A copy of what was generated for one kernel, for another: nodes and the kernel's name are its own.
local function moved(value, to, from, name)
  if type(value) == "string" then return replace.name(value, from, name) end
  if type(value) ~= "table" then return value end
  if to[value] then return to[value] end
  assert(not value.inputs, "a node that is not in the key")
  local copy = {}
  to[value] = copy
  for k, v in pairs(value) do copy[moved(k, to, from, name)] = moved(v, to, from, name) end
  return copy
end

--- As generators.generate. `known` is a table that belongs to these options but for those of single kernels, empty at first.
function M.generate(kernel, options, known)
  local key, nodes = M.key(kernel, options.kernels and options.kernels(kernel))
  key = kernel.name:gsub("^k%d+", "") .. key
  local first = known[key]
  if first then
    local to = {}
    for k, x in ipairs(first.nodes) do to[x] = nodes[k] end
    kernel.by, kernel.loop = first.by, first.loop
    return moved(first.made, to, first.name, kernel.name)
  end
  local made, why = generators.generate(kernel, options)
  if made then known[key] = { made = made, nodes = nodes, by = kernel.by, loop = kernel.loop, name = kernel.name } end
  return made, why
end

return M
