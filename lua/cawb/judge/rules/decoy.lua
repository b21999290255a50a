--- Launches that change nothing that an output depends on: a kernel for show, whose work is
--- done by another step. What prepare launches has to matter, too.
return {
  stage = "plan", severity = "reject",
  check = function(facts)
    for where, steps in pairs { ["step"] = facts.plan.steps, ["step of prepare"] = facts.plan.prepared or {} } do
      for i, step in ipairs(steps) do
        if step.kernel and step.dead then
          return { reason = ("%s %d, %s, changes nothing that an output depends on: remove it")
            :format(where, i, step.kernel), evidence = { step = i, kernel = step.kernel, writes = step.writes } }
        end
      end
    end
  end,
}
