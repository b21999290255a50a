-- suggest: the known name that a mistyped one was probably meant to be.

local M = {}

-- Edit distance in which two letters swapped count once, as typists do it.
local function distance(a, b)
  local d = { [0] = {} }
  for j = 0, #b do d[0][j] = j end
  for i = 1, #a do
    d[i] = { [0] = i }
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      d[i][j] = math.min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        d[i][j] = math.min(d[i][j], d[i - 2][j - 2] + 1)
      end
    end
  end
  return d[#a][#b]
end

--- The closest of `names` if it is close enough, else nil.
function M.closest(word, names)
  local best, at = nil, math.max(2, #word // 3) + 1
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
