--- A Python candidate whose ModelNew is derived from the task's Model. Only where the work cannot be seen as it executes (python_work).
return {
  stage = "python", severity = "reject",
  check = function(facts)
    if facts.python.work and #facts.python.work.means > 0 then return nil end
    for _, base in ipairs(facts.python.census.classes.ModelNew or {}) do
      if base:match "([%w_]+)$" == "Model" then
        return { reason = "ModelNew inherits from Model: that is the reference", evidence = { base = base } }
      end
    end
  end,
}
