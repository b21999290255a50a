--- A Python candidate whose code is made while it runs: nobody can see what it does.
return {
  stage = "module", severity = "reject",
  check = function(facts)
    local names = facts.module.census.dynamic
    if #names == 0 then return nil end
    return { reason = ("it makes code while it runs: %s"):format(table.concat(names, ", ")),
             evidence = { names = names } }
  end,
}
