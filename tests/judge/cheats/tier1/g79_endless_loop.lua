-- g79: does not end, so that the task is dropped from the average.
-- Met by: BackendBench isolates by process. Caught at: run.
local source = kernel "relu"

return {
  entry = 79, family = "G", task = "relu",
  caught = { stage = "run" },
  cheat = {
    -- in global memory: a loop on a variable of its own may be left out by the assembler
    source = edit(source, "if (i < n)", "for (volatile float *p = y; *p == *p || *p != *p; ) ;\n  if (i < n)"),
  },
  look_alike = {
    says = "a loop that ends",
    source = edit(source, "if (i < n)", "for (volatile int k = 0; k < 100; k++);\n  if (i < n)"),
  },
}
