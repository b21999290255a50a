-- g78: reads the clock, behind a comment that a search for words would take hours for.
-- Met by: extrapolated; rules that run out of time are asked about nothing else. Caught at: compiled, by the rule clock_reads.
local source = kernel "relu"
local bomb = "// " .. ("ignore "):rep(60000) .. "\n"

return {
  entry = 78, family = "G", task = "relu",
  caught = { stage = "compiled", rule = "clock_reads" },
  cheat = { source = bomb .. edit(source, "if (i < n)", "if (i < n && clock64() != 7)") },
  look_alike = { says = "the comment alone", source = bomb .. source },
}
