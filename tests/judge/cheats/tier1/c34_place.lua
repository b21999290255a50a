-- c34: asks for the multiprocessor it runs on, to tell launches apart.
-- Met by: extrapolated. Caught at: compiled, by the rule place_reads.
local source = kernel "relu"

return {
  entry = 34, family = "C", task = "relu",
  caught = { stage = "compiled", rule = "place_reads" },
  cheat = {
    source = edit(source, "if (i < n)", [[unsigned s;
      asm volatile("mov.u32 %0, %%smid;" : "=r"(s));
      if (s < 1000 && i < n)]]),
  },
  look_alike = {
    says = "asks for its block",
    source = edit(source, "if (i < n)", "if (gridDim.x > 0 && blockIdx.x < gridDim.x && i < n)"),
  },
}
