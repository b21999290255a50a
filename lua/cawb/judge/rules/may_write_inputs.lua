--- A launch whose code holds a store through the address of an input. What was changed is
--- found by comparing inputs after each call; what was changed back would not be.
return {
  stage = "plan", severity = "reject",
  options = { patterns = { "^inputs%[", "^params%." } },
  check = function(facts, options)
    for i, step in ipairs(facts.plan.steps) do
      for _, name in ipairs(step.writes) do
        for _, pattern in ipairs(options.patterns) do
          if step.kernel and name:find(pattern) then
            return { reason = ("step %d, %s, has a store through the address of %s: inputs and parameters are "
              .. "read-only (declare the pointer const)"):format(i, step.kernel, name),
              evidence = { step = i, kernel = step.kernel, tensor = name } }
          end
        end
      end
    end
  end,
}
