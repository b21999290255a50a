--- Kernels that are compiled and never launched, beside library calls that do the work: the
--- look of a kernel without one. Without library calls it is only untidy.
return {
  stage = "plan", severity = "reject",
  options = { always = false },
  check = function(facts, options)
    local idle = {}
    for _, fn in pairs(facts.compiled and facts.compiled.functions or {}) do
      if fn.entry and not facts.plan.launched[fn.plain] then idle[#idle + 1] = fn.plain end
    end
    table.sort(idle)
    local show = facts.plan.libraries > 0 and facts.plan.launches == 0
    if #idle == 0 or not (show or options.always) then return nil end
    return { reason = ("%s is compiled and never launched%s"):format(table.concat(idle, ", "),
      show and ", while library calls do the work: launch it or leave it out" or ""),
      evidence = { kernels = idle, libraries = facts.plan.libraries } }
  end,
}
