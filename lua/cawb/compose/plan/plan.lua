-- plan: the text of plan.lua. It begins with the shapes that it was made for and refuses others; then one
-- line for each step, in order, under the name of what it computes.

local graphs = require "cawb.compose.ir.graph"
local library = require "cawb.compose.ir.library"
local lists = require "cawb.base.lists"
local memory = require "cawb.compose.plan.memory"
local types = require "cawb.torch.types"

local M = {}

local list = library.list

function M.leaf_name(x)
  local number = x.source:match "^input:(%d+)$"
  if number then return ("inputs[%s]"):format(number) end
  return ("params[%q]"):format(x.source:match "^param:(.*)$")
end
local leaf_name = M.leaf_name

-- The leaves with memory, each { name =, dtype =, shape =, strides = }.
local function leaves(g)
  local all = lists.filter(g.nodes, function(x) return x.kind == "leaf" and x.source:find ":" end)
  return lists.map(lists.groups(all, function(x) return x.source end), function(group)
    local x = group[1]
    return { name = leaf_name(x), dtype = x.dtype, shape = x.shape, strides = x.strides }
  end)
end

--- The refusal of a plan for other shapes than its own.
M.one_shape = "this plan was made for tensors of other shapes, strides or types"

local expect = [[
local function expect(t, dtype, shape, strides)
  local same = t.dtype == dtype and t.rank == #shape
  for d = 1, #shape do
    same = same and t.shape[d] == shape[d] and (shape[d] == 1 or t.strides[d] == strides[d])
  end
  assert(same, "]] .. M.one_shape .. [[")
end
]]

--- What a plan says of the tensors that it was made for, a list of { name = in words of the plan, dtype =, shape =, strides = }.
function M.expectations(tensors)
  local lines = lists.map(tensors, function(t) return ("expect(%s, %q, %s, %s)"):format(t.name, t.dtype, list(t.shape), list(t.strides)) end)
  return table.concat({ expect, table.unpack(lines) }, "\n")
end

-- Numbers that are zero before a kernel, a few each: they lie beside each other and are cleared in one step. Those of
-- steps before the first call are apart. Returns of each its group and place in it, and how many a group has.
local function flags_of(kernels)
  local flags, counts = {}, {}
  for _, kernel in ipairs(kernels) do
    for _, launch in ipairs(kernel.made and kernel.made.launches or {}) do
      if launch.fill and launch.fill.flag then
        local group = launch.prepare and "prepared" or "called"
        flags[launch.fill.scratch .. kernel.name] = { group = group, at = counts[group] or 0, numel = launch.fill.numel }
        counts[group] = (counts[group] or 0) + launch.fill.numel
      end
    end
  end
  return flags, counts
end

-- The items that a step writes and reads in scratch memory; a node is always the same table.
local function items(kernels, flags)
  local of, steps = {}, {}
  local function item(x)
    x = x.slice_of or x
    if x.kind == "leaf" or x.is_output then return nil end
    of[x] = of[x] or { dtype = x.dtype, numel = math.max(1, x.extent or graphs.numel(x.shape)), persistent = x.persistent }
    return of[x]
  end
  for k, kernel in ipairs(kernels) do
    local step = { writes = {}, reads = {} }
    for _, x in ipairs(kernel.roots) do step.writes[#step.writes + 1] = item(x) end
    for _, x in ipairs(kernel.reads) do step.reads[#step.reads + 1] = item(x) end
    for _, launch in ipairs(kernel.made and kernel.made.launches or {}) do
      for _, argument in ipairs(launch.arguments or { launch.fill }) do
        local key = type(argument) == "table" and argument.scratch and argument.scratch .. kernel.name
        if key and not of[key] and not flags[key] then
          local own = { dtype = argument.dtype, numel = argument.numel, persistent = launch.prepare }
          of[key] = own
          step.writes[#step.writes + 1] = own
        end
      end
    end
    steps[k] = step
  end
  return steps, of
end

-- A function from a kernel's arguments to words of the plan.
local function namer(of, at, flags)
  return function(x, kernel)
    if type(x) == "number" then return tostring(x) end
    local flag = x.scratch and flags[x.scratch .. kernel.name]
    if flag then return ("view(%s, { shape = { %d }, offset = %d })"):format(flag.group, flag.numel, flag.at) end
    if x.scratch then return ("place[%d]"):format(at[of[x.scratch .. kernel.name]].number) end
    x = x.slice_of or x
    if x.kind == "leaf" then return leaf_name(x) end
    if x.is_output then return ("outputs[%d]"):format(x.is_output) end
    return ("place[%d]"):format(at[of[x]].number)
  end
end

local function step_text(kernel, launch, name)
  if launch.fill then return ("memset(%s, %d)"):format(name(launch.fill, kernel), launch.value) end
  local words = lists.map(launch.arguments, function(x) return name(x, kernel) end)
  local more = launch.shared and launch.shared > 0 and (", shared = %d"):format(launch.shared) or ""
  if launch.cluster then more = ("%s, cluster = %s"):format(more, list(launch.cluster)) end
  if launch.cooperative then more = more .. ", cooperative = true" end
  return ("launch(%q, { grid = %s, block = %s%s }%s)"):format(launch.kernel, list(launch.grid), list(launch.block), more,
    #words > 0 and ", " .. table.concat(words, ", ") or "")
end

-- The places of flags, and the steps that clear them.
local function add_flags(lines, counts)
  for _, group in ipairs { "prepared", "called" } do
    if counts[group] then
      lines[#lines + 1] = ('local %s = scratch{ shape = { %d }, dtype = "int32" }'):format(group, counts[group])
      local text = ("memset(%s, 0)"):format(group)
      lines[#lines + 1] = group == "prepared" and ("prepare(function(params) %s end)"):format(text) or text
    end
  end
end

--- A kernel in words: its operators with their lines.
function M.about(kernel)
  local words, seen = {}, {}
  local function is_beyond(x) return x.kind == "leaf" or x.stored and not kernel.own[x] end
  graphs.walk(kernel.roots, function(x)
    local from = not is_beyond(x) and x.from
    local word = from and (from.name .. (from.line and (" (%s)"):format(graphs.place(from)) or ""))
    if word and not seen[word .. (from.number or 0)] then
      seen[word .. (from.number or 0)] = true
      words[#words + 1] = word
    end
  end, is_beyond)
  return #words > 0 and table.concat(words, ", ") or "a copy"
end

local function bytes_of(places) return lists.sum(places, function(p) return p.numel * types.size(p.dtype) end) end

--- The text, and the bytes of scratch that it takes. `kernels` in order, each with `roots`, `reads` and `made` (or a library's node).
function M.text(g, kernels)
  local flags, counts = flags_of(kernels)
  local steps, of = items(kernels, flags)
  local places, at = memory.plan(steps)
  local name = namer(of, at, flags)
  local lines = { M.expectations(leaves(g)), "" }
  lines[#lines + 1] = "local place = {}"
  for _, p in ipairs(places) do
    lines[#lines + 1] = ("place[%d] = scratch{ shape = { %d }, dtype = %q }"):format(p.number, p.numel, p.dtype)
  end
  add_flags(lines, counts)
  for _, kernel in ipairs(kernels) do
    lines[#lines + 1] = ("\n-- %s"):format(M.about(kernel))
    if kernel.call then
      lines[#lines + 1] = library.call(kernel.roots[1], function(x) return name(x, kernel) end)
    end
    for _, launch in ipairs(kernel.made and kernel.made.launches or {}) do
      local text = not (launch.fill and launch.fill.flag) and step_text(kernel, launch, name)
      if text then lines[#lines + 1] = launch.prepare and ("prepare(function(params) %s end)"):format(text) or text end
    end
  end
  return table.concat(lines, "\n") .. "\n", bytes_of(places)
end

return M
