-- lists: questions of a list, and lists that are made of others. Each function f takes an element and its number.

local M = {}

--- The results of f, in order.
function M.map(list, f)
  local all = {}
  for k, x in ipairs(list) do all[k] = f(x, k) end
  return all
end

--- f(1), f(2), ..., f(n).
function M.times(n, f)
  local all = {}
  for k = 1, n do all[k] = f(k) end
  return all
end

--- The elements for which f holds.
function M.filter(list, f)
  local some = {}
  for k, x in ipairs(list) do
    if f(x, k) then some[#some + 1] = x end
  end
  return some
end

--- Whether f holds for an element.
function M.any(list, f)
  for k, x in ipairs(list) do
    if f(x, k) then return true end
  end
  return false
end

--- Whether f holds for every element.
function M.all(list, f)
  for k, x in ipairs(list) do
    if not f(x, k) then return false end
  end
  return true
end

--- The first element for which f holds, or nil.
function M.first(list, f)
  for k, x in ipairs(list) do
    if f(x, k) then return x end
  end
end

--- The first of the elements for which f is least, and that value. Elements for which f is nil do not count.
function M.least(list, f)
  local best, least
  for k, x in ipairs(list) do
    local value = f(x, k)
    if value and (not least or value < least) then best, least = x, value end
  end
  return best, least
end

--- The sum of f, 0 for no elements.
function M.sum(list, f)
  local sum = 0
  for k, x in ipairs(list) do sum = sum + f(x, k) end
  return sum
end

--- Lists of the elements of one f each, in the order of their first ones.
function M.groups(list, f)
  local all, by = {}, {}
  for k, x in ipairs(list) do
    local key = f(x, k)
    if not by[key] then
      by[key] = {}
      all[#all + 1] = by[key]
    end
    table.insert(by[key], x)
  end
  return all
end

--- The elements as a set, { [element] = true }.
function M.set(list)
  local set = {}
  for _, x in ipairs(list) do set[x] = true end
  return set
end

--- The elements of these lists, one list behind the other.
function M.joined(...)
  local all = {}
  for _, list in ipairs { ... } do table.move(list, 1, #list, #all + 1, all) end
  return all
end

--- Puts the elements of a list behind those of another, which it returns.
function M.append(to, list) return table.move(list, 1, #list, #to + 1, to) end

--- A table with the same fields.
function M.copy(t)
  local copy = {}
  for key, value in pairs(t) do copy[key] = value end
  return copy
end

return M
