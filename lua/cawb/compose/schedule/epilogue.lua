-- epilogue: epilogue fusion. Streams that read the result of an anchor (a scan, a sort, a product, a window) become a part of its
-- kernel, if the anchor's generator can write their results. So do partial sums over the result (split/partial.lua). The anchor's
-- own result is then not stored unless somebody else reads it.

local generators = require "cawb.compose.schedule.generators"
local kernels = require "cawb.compose.schedule.kernels"
local lists = require "cawb.base.lists"

local M = {}

local takes = { stream = true, partial = true }

-- The kernels that read results of kernel a, in order.
local function readers(state, a)
  local all = lists.joined(table.unpack(lists.map(a.roots, function(x) return state:readers(x) end)))
  local list = lists.map(lists.groups(all, function(b) return b end), function(group) return group[1] end)
  table.sort(list, function(p, q) return state.places[p] < state.places[q] end)
  return list
end

function M.edges(state)
  return coroutine.wrap(function()
    for a in state:touched "epilogue" do
      for _, b in ipairs(generators.is_anchor(a) and readers(state, a) or {}) do
        if takes[b.kind] then coroutine.yield { a, b } end
      end
    end
  end)
end

-- Whether a kernel on tensor cores would become one that is not.
local function is_slower(a, found, options)
  if found.by == "tensor" or found.by == "attend" then return false end
  local alone = generators.accepts(a, options)
  return alone and (alone.by == "tensor" or alone.by == "attend")
end

function M.joined(state, edge)
  local a, b = edge[1], edge[2]
  if state:needs(a, b, true) then return nil end
  local x = kernels.anchor(a)
  local roots = lists.filter(a.roots, function(root) return root ~= x or state:is_read_beside(x, b) end)
  for _, root in ipairs(b.roots) do table.insert(roots, b.kind == "partial" and 1 or #roots + 1, root) end
  local both = { kind = a.kind, roots = roots, members = { x }, attend = a.attend, within = { [x] = true } }
  local found = generators.accepts(both, state.options)
  return found and not is_slower(a, found, state.options) and both or nil
end

function M.settle(state, edge, both)
  local x = both.members[1]
  x.stored = lists.any(both.roots, function(root) return root == x end) or nil
  state:replace(edge, both)
end

return M
