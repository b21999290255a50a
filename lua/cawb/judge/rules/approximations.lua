--- Names the approximate instructions in use; their errors are judged like any other.
return {
  stage = "compiled", severity = "flag",
  options = { fewest = 1 },
  check = function(facts, options)
    local total, approximate = 0, facts.compiled and facts.compiled.total.approximate or {}
    for _, n in pairs(approximate) do total = total + n end
    if total < options.fewest then return nil end
    return { reason = ("%d approximate instructions"):format(total), evidence = approximate }
  end,
}
