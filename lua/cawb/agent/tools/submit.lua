-- submit: the end. What is in the workspace is evaluated first, if it was not.

return {
  description = "You are done: what is in the workspace is evaluated if it was not yet, and the best of all turns counts.",
  parameters = { { "note", "string", "what made the difference, in a sentence or two", optional = true },
    { "give_up", "boolean", "end although nothing has passed", optional = true } },
  run = function(session, arguments)
    local text, failed = session:evaluate(arguments.note)
    if session.run.best or arguments.give_up then
      session.submitted = true
      return "Submitted.\n" .. text
    end
    return "Not submitted: nothing has passed yet.\n" .. text, failed
  end,
}
