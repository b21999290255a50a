-- ranking: ranks the options to try next for a kernel of a plan, the most promising first, by records of it and of similar kernels
-- (records.lua). Candidates are one edit away from the best options or from none, stand in records, or are drawn.

local lists = require "cawb.base.lists"
local records = require "cawb.compose.tune.records"
local schedule = require "cawb.compose.schedule.schedule"

local M = {}

local MIXED = 24           -- options of several edits that are drawn for a kernel, each round

--- The edits of each kernel's options, in order, by its name.
function M.edits(made)
  local by_kernel = {}
  for _, edit in ipairs(schedule.legal(made)) do
    if edit.kernel and edit.value ~= nil then
      by_kernel[edit.kernel] = by_kernel[edit.kernel] or {}
      table.insert(by_kernel[edit.kernel], edit)
    end
  end
  return by_kernel
end

local function word(name, value) return name .. "=" .. tostring(value) end

local function with(own, edit)
  local all = lists.copy(own)
  all[edit.name] = edit.value
  return all
end

-- Options that a kernel may be given next: one edit from its best and from none, those of records, and some of several edits.
local function candidates(one, edits, draw)
  local list, known = {}, {}
  local function add(own)
    local text = records.text(own)
    if not known[text] and not one.tried[text] then list[#list + 1] = own end
    known[text] = true
  end
  local legal = {}
  for _, edit in ipairs(edits) do
    legal[word(edit.name, edit.value)] = true
    add(with(one.own, edit))
    add(with({}, edit))
  end
  for _, r in ipairs(one.near) do
    local fits = r.change < 0
    for name, value in pairs(r.own) do fits = fits and (legal[word(name, value)] or one.own[name] == value) end
    if fits then add(r.own) end
  end
  local telling = M.telling(one, edits)
  for _ = 1, #telling > 1 and MIXED or 0 do
    local own = draw(2) == 1 and one.own or {}
    for _ = 1, 1 + draw(3) do own = with(own, telling[draw(#telling)]) end
    add(own)
  end
  return list
end

--- Options that leave a kernel's text as it is: where that is one edit, it is in no mixture any more.
function M.dull(one, own)
  local name, value = next(own)
  if name and next(own, name) == nil then one.dull[word(name, value)] = true end
end

--- Whether an edit is among those, of a kernel's `dull` ones, where these are known.
function M.is_dull(dull, edit) return dull ~= nil and dull[word(edit.name, edit.value)] == true end

--- The edits of a kernel that are not known to change nothing.
function M.telling(one, edits) return lists.filter(edits, function(edit) return not M.is_dull(one.dull, edit) end) end

--- The options that promise most, the most first: a list of { own, gain }. `one` has the results of the kernel: about, near, seen,
--- tried, best, own (tune.lua); draw(n) draws from 1 to n.
function M.ranked(one, edits, draw)
  local list = lists.map(candidates(one, edits, draw), function(own, k) return { own = own, gain = one.model:gain(own, one.best), number = k } end)
  table.sort(list, function(a, b) return a.gain > b.gain or a.gain == b.gain and a.number < b.number end)
  return list
end

return M
