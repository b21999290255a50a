-- measure: the whole evaluation: a turn.

return {
  description = "Evaluate the candidate: compile, try its tunables, verify, time it against PyTorch, reward. "
    .. "This is a turn of the run, and what is best counts.",
  parameters = { { "note", "string", "what you changed and why you expect it to help, in a sentence", optional = true } },
  run = function(session, arguments) return session:evaluate(arguments.note) end,
}
