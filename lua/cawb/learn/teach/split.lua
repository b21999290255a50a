-- split: which tasks are held out, by structure. It follows from a task alone, so that shards agree and a set may grow.

local core = require "cawb.core"

local M = {}

M.names = { "train", "families", "pairs", "sizes" }

--- The family of an operator: its name without module, number of dimensions, and the ways to write it.
function M.family(op)
  return (op:gsub("^.*%.", ""):gsub("_", ""):gsub("%dd$", ""):lower())
end

-- A number from 0 to 1 that a text always has.
local function share(kind, text)
  return tonumber(core.hash.sha256(("split:%s:%s"):format(kind, text)):sub(1, 8), 16) / 2.0 ^ 32
end

local function families_of(ops)
  local set, list = {}, {}
  for _, op in ipairs(ops) do
    local name = M.family(op)
    if not set[name] then set[name], list[#list + 1] = true, name end
  end
  table.sort(list)
  return list
end

--- The part that a task belongs to: "families" where a whole family of its operators is held out, "pairs" where a pair of them
--- is, "sizes" where the sizes of its first input beside the batch are, else "train". `how` = { families =, pairs =, sizes = shares }.
function M.of(ops, shape, how)
  local families = families_of(ops)
  for _, a in ipairs(families) do
    if share("family", a) < how.families then return "families" end
  end
  for i, a in ipairs(families) do
    for j = i + 1, #families do
      if share("pair", a .. "|" .. families[j]) < how.pairs then return "pairs" end
    end
  end
  local sizes = table.concat(shape, "x", math.min(2, #shape), #shape)
  return share("sizes", sizes) < how.sizes and "sizes" or "train"
end

return M
