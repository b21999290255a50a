-- keys: the keys of a table in an order that is always the same, numbers first. Keys that are tables themselves, and those of the set
-- `without`, are left out.

return function(t, without)
  local keys = {}
  for k in pairs(t) do
    if type(k) ~= "table" and not (without and without[k]) then keys[#keys + 1] = k end
  end
  table.sort(keys, function(a, b)
    if type(a) == type(b) then return a < b end
    return type(a) == "number"
  end)
  return keys
end
