--- Names the approximate instructions in use; their errors are judged like any other.
return {
  stage = "compiled", severity = "flag",
  options = { fewest = 1 },
  check = function(facts, options)
    local total, approximate = 0, facts.compiled and facts.compiled.total.approximate or {}
    for _, n in pairs(approximate) do total = total + n end
    if total < options.fewest then return nil end
    local names = {}
    for name, n in pairs(approximate) do names[#names + 1] = ("%d %s"):format(n, name) end
    table.sort(names)
    return { reason = ("approximate instructions (%s), faster than exact ones: what they err is in the error that was judged")
      :format(table.concat(names, ", ")), evidence = approximate }
  end,
}
