--- Launches that change nothing that an output depends on: a kernel for show, whose work is
--- done by another step.
return {
  stage = "plan", severity = "reject",
  check = function(facts)
    for i, step in ipairs(facts.plan.steps) do
      if step.kernel and step.dead then
        return { reason = ("step %d, %s, changes nothing that an output depends on: remove it")
          :format(i, step.kernel), evidence = { step = i, kernel = step.kernel, writes = step.writes } }
      end
    end
  end,
}
