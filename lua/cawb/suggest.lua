-- suggest: the known name that a mistyped one was probably meant to be.

local M = {}

-- Edit distance, with two rows of the usual table.
local function distance(a, b)
  local above = {}
  for j = 0, #b do above[j] = j end
  for i = 1, #a do
    local row = { [0] = i }
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      row[j] = math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + cost)
    end
    above = row
  end
  return above[#b]
end

--- The closest of `names` if it is close enough, else nil.
function M.closest(word, names)
  local best, at = nil, math.max(1, #word // 3) + 1
  for _, name in ipairs(names) do
    local d = distance(word:lower(), name:lower())
    if d < at then best, at = name, d end
  end
  return best
end

--- " (did you mean 'turns'?)", or a list of what there is, or "".
function M.hint(word, names)
  table.sort(names)
  local near = M.closest(word, names)
  if near then return (" (did you mean '%s'?)"):format(near) end
  if #names == 0 then return "" end
  return (" (known: %s)"):format(table.concat(names, ", "))
end

return M
