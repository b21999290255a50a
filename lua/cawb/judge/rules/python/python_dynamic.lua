--- A Python candidate whose code is made while it runs: nobody can see what it does. Only where the work cannot be seen as it executes (python_work).
return {
  stage = "python", severity = "reject",
  check = function(facts)
    if facts.python.work and #facts.python.work.means > 0 then return nil end
    local names = facts.python.census.dynamic
    if #names == 0 then return nil end
    return { reason = ("it makes code while it runs: %s"):format(table.concat(names, ", ")),
             evidence = { names = names } }
  end,
}
