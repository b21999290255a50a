-- over_rows: kernels over the same rows become one: one behind the other, or side by side (horizontal fusion). So does a stream ahead of
-- rows, whose values stay on the chip (prologue fusion).

local expression = require "cawb.compose.emit.expression"
local graphs = require "cawb.compose.ir.graph"
local kernels = require "cawb.compose.schedule.kernels"
local lists = require "cawb.base.lists"
local repeated = require "cawb.compose.schedule.repeated"
local rows = require "cawb.compose.emit.rows.rows"

local M = { behind = {}, beside = {}, ahead = {} }

local SMALL = 1 << 16   -- elements of a kernel that takes no longer than its launch
local LARGE = 200       -- nodes of a kernel
local NEAR = 4          -- kernels over the same rows that one is compared with

local function numel(x) return graphs.numel(x.shape) end

local function fits(a, b)
  local r, n = rows.space(a.members[1])
  local function is_over(m)
    local s, t = rows.space(m)
    return s == r and t == n
  end
  return lists.all(b.members, is_over)
    and lists.all(b.roots, function(x) return x.kind == "reduce" or numel(x) == r or numel(x) == r * n end)
end

--- Two lists of nodes as one, by number.
function M.all(list, more)
  local out = lists.joined(list, more)
  table.sort(out, function(p, q) return p.id < q.id end)
  return out
end

-- Whether kernels over rows can be made: of equal ones it is asked once. Large ones are hardly ever equal, and their keys take longer than the answer.
local function is_made(state, kernel)
  local known, key = state.rows_made, repeated.key(kernel, nil, LARGE)
  local made = key and known[key]
  if made == nil then made = rows.accepts(kernel, nil, state.options.chip) ~= nil end
  if key then known[key] = made end
  return made
end

-- Kernel b after a, in one; nil where no generator makes it.
local function both_of(state, a, b)
  local both = { kind = "rows", roots = M.all(a.roots, b.roots), members = M.all(a.members, b.members) }
  return is_made(state, both) and both
end

-- A root that nobody else reads is not written.
local function settle(state, edge, both)
  state:replace(edge, both)
  for _, x in ipairs(both.roots) do x.stored = state:is_read_beside(x, both) and x.stored or nil end
  both.roots = lists.filter(both.roots, function(x) return x.stored end)
end

M.behind.settle, M.beside.settle = settle, settle

-- ---- behind: rows or a stream behind the rows that they read

function M.behind.edges(state)
  return coroutine.wrap(function()
    for b in state:touched "behind" do
      for _, x in ipairs((b.kind == "rows" or b.kind == "stream") and kernels.reads(b) or {}) do
        local a = state:owner(x)
        if a and a.kind == "rows" then coroutine.yield { a, b } end
      end
    end
  end)
end

-- Each reads the other's results only on its own row.
function M.behind.joined(state, edge)
  local a, b = edge[1], edge[2]
  return fits(a, b) and not state:needs(a, b, true) and state.may(a, b) and both_of(state, a, b)
end

-- ---- beside: rows that need nothing of each other

-- Whether these are the last kernels of a list.
local function are_last(near, list)
  local ahead = #list - #near
  for n = #near, 1, -1 do
    if near[n] ~= list[ahead + n] then return false end
  end
  return ahead == 0 or #near == NEAR
end

--- Edges between kernels of a kind and of the same key(k), each with the NEAR next ones, one after the other. A kernel that has the neighbours that it was compared with has none.
function M.neighbours(state, kind, key)
  return coroutine.wrap(function()
    local before_of = {}
    for _, b in ipairs(state.list) do
      if b.kind == kind then
        b.alike = b.alike or key(b)
        local before = before_of[b.alike] or {}
        before_of[b.alike] = before
        if not are_last(state.compared[b] or {}, before) then
          local near = table.move(before, math.max(1, #before - NEAR + 1), #before, 1, {})
          for _, a in ipairs(near) do coroutine.yield { a, b } end
          state.compared[b] = near
        end
        before[#before + 1] = b
      end
    end
  end)
end

--- Whether one kernel for two of n elements is worth it: they load a tensor of that size both, or a launch takes longer than they do.
function M.is_worth_it(a, b, n)
  if n <= SMALL then return true end
  local loaded = lists.set(kernels.loads(a))
  return lists.any(kernels.loads(b), function(x) return loaded[x] and numel(x) >= n end)
end

function M.beside.edges(state)
  return M.neighbours(state, "rows", function(k)
    local first = k.members[1]
    return table.concat(first.shape, ",") .. ";" .. table.concat(expression.axes(first), ",")
  end)
end

function M.beside.joined(state, edge)
  local a, b = edge[1], edge[2]
  local r, n = rows.space(a.members[1])
  return fits(a, b) and fits(b, a) and M.is_worth_it(a, b, r * n) and not state:needs(a, b) and state.may(a, b) and both_of(state, a, b)
end

-- ---- ahead: a stream ahead of the rows that alone read it

function M.ahead.edges(state)
  return coroutine.wrap(function()
    for a in state:touched "ahead" do
      local x = a.roots[1]
      local b = a.kind == "stream" and #a.roots == 1 and x.kind ~= "reduce" and state:only_reader(x)
      if b and b.kind == "rows" then coroutine.yield { a, b } end
    end
  end)
end

-- It is computed once, because its values stay on the chip: the rows' kernel alone has them (`within`, `held`).
function M.ahead.joined(state, edge)
  local a, b = edge[1], edge[2]
  local x, r, n = a.roots[1], rows.space(b.members[1])
  if numel(x) ~= r * n or n == 1 or not state.may(a, b) then return nil end
  local both = { kind = "rows", roots = b.roots, members = b.members, within = { [x] = true }, held = { [x] = true } }
  for y in pairs(b.held or {}) do both.held[y] = true end
  return is_made(state, both) and both
end

function M.ahead.settle(state, edge, both)
  local x = edge[1].roots[1]
  x.stored, x.strides = nil, nil
  state:replace(edge, both)
end

return M
