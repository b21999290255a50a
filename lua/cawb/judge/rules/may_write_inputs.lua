--- A launch whose code holds a store through the address of an input. What was changed is
--- found by comparing inputs after each call; what was changed back would not be, but where a device
--- guards its memory. A store that may go to an input or elsewhere is said, and left to these.
return {
  stage = "plan", severity = "reject",
  options = { patterns = { "^inputs%[", "^params%." } },
  check = function(facts, options)
    local perhaps
    local function found(i, step, name, how)
      return { reason = ("step %d, %s, %s a store through the address of %s: inputs and parameters are "
        .. "read-only (declare the pointer const)"):format(i, step.kernel, how, name),
        evidence = { step = i, kernel = step.kernel, tensor = name } }
    end
    for i, step in ipairs(facts.plan.steps) do
      local unsure = {}
      for _, name in ipairs(step.perhaps or {}) do unsure[name] = true end
      for _, name in ipairs(step.writes) do
        for _, pattern in ipairs(options.patterns) do
          local is = step.kernel and name:find(pattern)
          if is and not unsure[name] then return found(i, step, name, "has") end
          if is and not perhaps then perhaps = found(i, step, name, "may have") end
        end
      end
    end
    if not perhaps or facts.device and facts.device.protects then return nil end
    perhaps.unknown = true
    return perhaps
  end,
}
