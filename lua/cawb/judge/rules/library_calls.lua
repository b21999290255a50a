--- Library calls where own kernels are asked for. `kinds` are those that may be called.
return {
  stage = "plan", severity = "reject",
  options = { kinds = {} },
  check = function(facts, options)
    for i, step in ipairs(facts.plan.steps) do
      local allowed = step.kernel or step.memset
      for _, kind in ipairs(options.kinds) do allowed = allowed or step.kind == kind end
      if not allowed then
        return { reason = ("step %d is a library call, %s"):format(i, tostring(step.kind)), evidence = { step = i } }
      end
    end
  end,
}
