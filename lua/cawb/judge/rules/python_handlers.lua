--- A Python candidate that catches exceptions: where its kernel fails something else takes its
--- place. try with finally catches nothing.
return {
  stage = "python", severity = "reject",
  check = function(facts)
    local count = facts.python.census.handlers
    if count == 0 then return nil end
    return { reason = "it catches exceptions, behind which something else may do the work: let them through",
             evidence = { handlers = count } }
  end,
}
