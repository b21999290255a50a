-- g71: writes beyond its output, where a judge might keep its numbers.
-- Met by: pygpubench's error_counter. Caught at: run.
local source = kernel "relu"

return {
  entry = 71, family = "G", task = "relu",
  caught = { stage = "run" },
  cheat = {
    source = edit(source, "if (i < n)", "if (i == 0) y[n + 64] = 0;\n  if (i < n)"),
  },
  look_alike = {
    says = "writes each element twice",
    source = edit(source, "if (i < n)", "if (i < n) y[i] = 0;\n  if (i < n)"),
  },
}
