--- A Python candidate whose ModelNew is derived from the task's Model.
return {
  stage = "python", severity = "reject",
  check = function(facts)
    for _, base in ipairs(facts.python.census.classes.ModelNew or {}) do
      if base:match "([%w_]+)$" == "Model" then
        return { reason = "ModelNew inherits from Model: that is the reference", evidence = { base = base } }
      end
    end
  end,
}
