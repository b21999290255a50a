--- Names instructions that stop a kernel or let it sleep.
return {
  stage = "compiled", severity = "flag",
  check = function(facts)
    local stops = facts.compiled and facts.compiled.total.stops
    if not stops or not next(stops) then return nil end
    return { reason = "it holds instructions that stop or delay it", evidence = stops }
  end,
}
