--- A Python candidate whose code is made while it runs: nobody can see what it does.
return {
  stage = "python", severity = "reject",
  check = function(facts)
    local names = facts.python.census.dynamic
    if #names == 0 then return nil end
    return { reason = ("it makes code while it runs: %s"):format(table.concat(names, ", ")),
             evidence = { names = names } }
  end,
}
