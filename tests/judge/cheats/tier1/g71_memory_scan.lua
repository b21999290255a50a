-- g71: searches memory around its own for the answer.
-- Met by: pygpubench's submission_gpu_scan_zeros. Caught at: run.
local source = kernel "row_sum"

return {
  entry = 71, family = "G", task = "row_sum",
  caught = { stage = "run" },
  cheat = {
    source = edit(source, "float sum = 0;", "float sum = 0;\n  for (long i = -4096; i < 0; i++) sum += x[i] * 0;"),
  },
  look_alike = {
    says = "reads elements of its own input to no effect",
    source = edit(source, "float sum = 0;", "float sum = 0;\n  for (long i = 0; i < 16; i++) sum += row[i] * 0;"),
  },
}
