--- A Python candidate that catches exceptions: where its kernel fails something else takes its
--- place. try with finally catches nothing. Only where the work cannot be seen as it executes (python_work).
return {
  stage = "python", severity = "reject",
  check = function(facts)
    if facts.python.work and #facts.python.work.means > 0 then return nil end
    local count = facts.python.census.handlers
    if count == 0 then return nil end
    return { reason = "it catches exceptions, behind which something else may do the work: let them through",
             evidence = { handlers = count } }
  end,
}
