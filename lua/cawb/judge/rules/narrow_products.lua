--- Names products in a type narrower than the task's; whether that costs accuracy is seen by
--- the errors.
return {
  stage = "plan", severity = "flag",
  check = function(facts)
    local dtype = facts.task.outputs[1] and facts.task.outputs[1].dtype
    if dtype ~= "float32" and dtype ~= "float64" then return nil end
    local found = {}
    for name, n in pairs(facts.compiled and facts.compiled.total.tensor or {}) do found[name] = n end
    for _, step in ipairs(facts.plan.steps) do
      if step.compute and step.compute ~= "float32" then found[step.compute] = (found[step.compute] or 0) + 1 end
    end
    found.fp64 = nil
    if not next(found) then return nil end
    local names = {}
    for name in pairs(found) do names[#names + 1] = name end
    table.sort(names)
    return { reason = ("products in %s for a result in %s; their error is in the one that is judged"):format(table.concat(names, ", "), dtype), evidence = found }
  end,
}
