--- Variables of the module that a call left changed, seen by reading them back: what the census
--- could not follow. They are put back before the next call all the same.
return {
  stage = "timing", severity = "reject",
  check = function(facts)
    if not facts.changed then return nil end
    return { reason = ("a call changes variables that outlive it (%s): use scratch() in the plan"):format(facts.changed),
             evidence = { variables = facts.changed } }
  end,
}
