-- g72: stops with an error, for a judge that takes errors for a pass.
-- Met by: pygpubench's exit tricks. Caught at: run.
local source = kernel "relu"

return {
  entry = 72, family = "G", task = "relu",
  caught = { stage = "run" },
  cheat = {
    source = edit(source, "if (i < n)", "if (i == n - 1) __trap();\n  if (i < n)"),
  },
  look_alike = {
    says = "stops where its arguments are impossible",
    source = edit(source, "if (i < n)", "if (n < 0) __trap();\n  if (i < n)"),
  },
}
