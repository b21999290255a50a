-- schedule: how a graph is lowered, as data: rewrites to skip, fusions to cut, options of a kernel's generator. Any schedule
-- computes the same function; only time and last bits differ. Entries for kernels that do not exist have no effect.
--
--   { skip = { 2 }, no_partial_sums = { 4 }, stores = { "2.1" }, cuts = { "3.1|5.2" }, kernels = { ["5.2"] = { vector = 2 } } }
--
--   skip     rewrites to skip, by their number (rewrite/rewrite.lua)
--   no_partial_sums  convolutions, by the operator's number, whose kernels begin no sums over their results (split/partial.lua)
--   stores   labels of nodes that are stored, and not computed in their readers
--   cuts     fusions that are not done
--   kernels  options of a kernel
--
-- The name of a kernel is the label of the last node that it stores: the number of the recorded operator, and the node's number
-- within it.

local generators = require "cawb.compose.schedule.generators"
local keys = require "cawb.compose.ir.keys"
local lists = require "cawb.base.lists"

local rewrite_steps = 32

local M = {}

--- The schedule that compose takes by itself.
function M.default() return {} end

local function set_of(list) return lists.set(list or {}) end

local function copy(t)
  if type(t) ~= "table" then return t end
  local c = {}
  for k, v in pairs(t) do c[k] = copy(v) end
  return c
end

function M.label(g)
  local counts = {}
  for _, x in ipairs(g.nodes) do
    local number = x.from and x.from.number or 0
    counts[number] = (counts[number] or 0) + 1
    x.label = ("%d.%d"):format(number, counts[number])
  end
end

--- A kernel's name in schedules.
function M.key(kernel) return kernel.roots[#kernel.roots].label or "0.0" end

local function pair(a, b) return M.key(a) .. "|" .. M.key(b) end

--- Options of candidate.make with a schedule among them: `joins` gains the pairs of kernels that are joined; choice(a, b, first)
--- puts one ahead of the others, which much depends on.
function M.options(options, joins)
  local s = options.schedule or {}
  local cuts, choice, seen = set_of(s.cuts), options.choice, {}
  local all = { skip = set_of(s.skip), no_partial_sums = set_of(s.no_partial_sums), stores = set_of(s.stores) }
  function all.choice(a, b, first)
    if cuts[pair(a, b)] then return false end
    if choice and not choice(a, b) then return false end
    if not seen[pair(a, b)] then table.insert(joins, first and 1 or #joins + 1, pair(a, b)) end
    seen[pair(a, b)] = true
    return true
  end
  local kernels = options.kernels
  function all.kernels(kernel)
    local own = (s.kernels or {})[M.key(kernel)]
    return own or kernels and kernels(kernel)
  end
  return setmetatable(all, { __index = options })
end

-- ---- edits

local powers = { 1, 2, 4, 8, 16 }

-- For each kind of generator (generators.lua) its options with values to try. Options that do not apply have no effect or are refused.
local knobs = {
  stream = { vector = { 1, 2, 4, 8 } },
  rows = { vector = { 1, 2, 4 }, lanes = { 16, 32, 64, 128, 256, 512 }, across = { 32, 64, 128, 256 }, block = { 64, 128, 256, 512, 1024 },
           cluster = { 1, 2, 4, 8 }, stay = { true, false }, hold = { false }, online = { false } },
  scan = { threads = { 64, 128, 256, 512, 1024 }, packs = powers, parts = powers, slices = powers },
  window = { outputs = { 1, 2, 4, 8 }, down = { 1, 2, 4 }, wide = { 2, 4, 8, 16 }, strip = { true, false }, threads = { 64, 128, 256 } },
  cell = { blocks = { 1, 2, 4, 8, 16, 32, 64 }, sequences = powers },
  order = { short = { 512, 1024, 2048 } },
  segment = { lanes = { 1, 2, 4, 8, 16 } },
  product = { tile = { 1, 2, 3, 4, 5, 6 }, splits = powers },
  attend = { queries = { 64, 128, 192 }, keys = { 32, 64, 128 }, pairs = { true, false } },
}
knobs.conv = knobs.product
M.knobs = knobs

local loops = { product = { "tensor", "library", "simt" }, conv = { "packed", "box", "library", "simt" } }
M.loops = loops

local function of_kernel(list, kernel, own)
  local key = M.key(kernel)
  local function add(name, value)
    if own[name] ~= value then list[#list + 1] = { kernel = key, name = name, value = value } end
  end
  for _, loop in ipairs(loops[kernel.kind] or {}) do
    if loop ~= kernel.loop and (loop ~= "simt" or generators.may_be_own(kernel)) then add("loop", loop) end
  end
  local mine = knobs[kernel.by] or {}
  for _, name in ipairs(keys(mine)) do
    for _, value in ipairs(mine[name]) do add(name, value) end
  end
  for _, name in ipairs(keys(own)) do list[#list + 1] = { kernel = key, name = name } end
end

--- The legal edits of the schedule of `made`, in an order that depends on the graph alone:
---   { kernel, name, value }                        a kernel's option; without a value, the generator's own choice
---   { cut = fusion }, { join = fusion }            cut a fusion, or make it again
---   { skip = step }, { rewrite = step }            skip a rewrite, or do it again
---   { no_partial_sums = number }, { partial_sums = number } a convolution's kernel begins no sums, or begins them again
function M.legal(made)
  local s, list = made.schedule or {}, {}
  for _, kernel in ipairs(made.kernels) do of_kernel(list, kernel, (s.kernels or {})[M.key(kernel)] or {}) end
  for _, one in ipairs(made.joins) do list[#list + 1] = { cut = one } end
  for _, one in ipairs(s.cuts or {}) do list[#list + 1] = { join = one } end
  local skipped = set_of(s.skip)
  lists.append(list, lists.times(math.min(rewrite_steps, made.rewrites.matched or 0), function(step)
    return skipped[step] and { rewrite = step } or { skip = step }
  end))
  local without = set_of(s.no_partial_sums)
  return lists.append(list, lists.map(made.begun or {}, function(number)
    return without[number] and { partial_sums = number } or { no_partial_sums = number }
  end))
end

local function added(list, x)
  local new = copy(list or {})
  new[#new + 1] = x
  table.sort(new)
  return new
end

local function removed(list, x)
  local new = lists.filter(list or {}, function(y) return y ~= x end)
  return #new > 0 and new or nil
end

-- The edits that put a value into a list of the schedule, and those that take it out again.
local adds = { cut = "cuts", skip = "skip", no_partial_sums = "no_partial_sums" }
local removes = { join = "cuts", rewrite = "skip", partial_sums = "no_partial_sums" }

-- The list that an edit changes, how, and its value; nothing where it is about a kernel.
local function listed(edit)
  for key, value in pairs(edit) do
    if adds[key] then return adds[key], added, value end
    if removes[key] then return removes[key], removed, value end
  end
end

function M.apply(schedule, edit)
  local s = copy(schedule)
  local name, change, value = listed(edit)
  if name then s[name] = change(s[name], value) end
  if edit.kernel then
    s.kernels = s.kernels or {}
    local own = s.kernels[edit.kernel] or {}
    own[edit.name] = edit.value
    s.kernels[edit.kernel] = next(own) and own or nil
    s.kernels = next(s.kernels) and s.kernels or nil
  end
  return s
end

-- ---- as text

local listed_fields = { "skip", "no_partial_sums", "stores", "cuts" }

-- The type of a list's values, by the name of a schedule's field.
local fields = { skip = "number", no_partial_sums = "number", stores = "string", cuts = "string", kernels = "table" }

local function word(value) return type(value) == "string" and ("%q"):format(value) or tostring(value) end

local function words(list) return "{ " .. table.concat(lists.map(list, word), ", ") .. " }" end

--- The schedule as text, the same for equal ones.
function M.text(schedule)
  local parts = {}
  for _, name in ipairs(listed_fields) do
    if schedule[name] then parts[#parts + 1] = ("%s = %s"):format(name, words(schedule[name])) end
  end
  local kernels = lists.map(keys(schedule.kernels or {}), function(key)
    local own = schedule.kernels[key]
    local options = lists.map(keys(own), function(name) return ("%s = %s"):format(name, word(own[name])) end)
    return ("[%q] = { %s }"):format(key, table.concat(options, ", "))
  end)
  if #kernels > 0 then parts[#parts + 1] = "kernels = { " .. table.concat(kernels, ", ") .. " }" end
  return #parts > 0 and "{ " .. table.concat(parts, ", ") .. " }" or "{}"
end

local function check_lists(s)
  for _, name in ipairs(listed_fields) do
    local wanted = fields[name]
    if s[name] ~= nil and type(s[name]) ~= "table" then return ("%s must be a list"):format(name) end
    for _, x in ipairs(s[name] or {}) do
      if type(x) ~= wanted then return ("%s has a %s, it takes %ss"):format(name, type(x), wanted) end
    end
  end
end

-- What type the values of an option have, by its name.
local takes = { loop = "string" }
for _, options in pairs(knobs) do
  for name, values in pairs(options) do takes[name] = type(values[1]) end
end

local function misfit_value(name, value)
  local wanted = takes[name]
  if wanted and type(value) ~= wanted then return ("%s takes a %s"):format(name, wanted) end
  if wanted == "number" and not (math.tointeger(value) and value >= 1) then return ("%s takes a whole number from 1"):format(name) end
end

local simple = { number = true, string = true, boolean = true }

local function check_kernels(kernels)
  if type(kernels) ~= "table" then return "kernels must be a table" end
  for key, own in pairs(kernels) do
    if type(key) ~= "string" or type(own) ~= "table" then return "kernels has tables of options by the kernels' names, as [\"5.2\"]" end
    for name, value in pairs(own) do
      if type(name) ~= "string" or not simple[type(value)] then return ("kernels[%q]: an option has a name and a plain value"):format(key) end
      local why = misfit_value(name, value)
      if why then return ("kernels[%q]: %s"):format(key, why) end
    end
  end
end

--- Whether a table is a schedule: true, or nil and what is wrong with it.
function M.check(s)
  for key in pairs(s) do
    if not fields[key] then
      return nil, ("schedule: there is no '%s'; there are skip, no_partial_sums, stores, cuts and kernels"):format(tostring(key))
    end
  end
  local wrong = check_lists(s) or s.kernels and check_kernels(s.kernels)
  if wrong then return nil, "schedule: " .. wrong end
  return true
end

--- A schedule from its text; or nil and what is wrong with it.
function M.parse(text)
  local chunk, message = load("return " .. text, "=schedule", "t", {})
  if not chunk then return nil, message end
  local ok, s = pcall(chunk)
  if not ok or type(s) ~= "table" then return nil, "schedule: a table is expected, { skip =, cuts =, kernels = }" end
  local good, why = M.check(s)
  if not good then return nil, why end
  return s
end

return M
