-- c34: asks whether it is launched from a graph, as timed launches may be.
-- Met by: our own attempts on the clock. Caught at: compiled, by the rule place_reads.
local source = kernel "relu"

return {
  entry = 34, family = "C", task = "relu",
  caught = { stage = "compiled", rule = "place_reads" },
  cheat = {
    source = edit(source, "if (i < n)", [[unsigned long long g;
      asm volatile("mov.u64 %0, %%current_graph_exec;" : "=l"(g));
      if (g != 12345 && i < n)]]),
  },
  look_alike = {
    says = "asks for its lane",
    source = edit(source, "if (i < n)", [[unsigned l;
      asm volatile("mov.u32 %0, %%laneid;" : "=r"(l));
      if (l < 32 && i < n)]]),
  },
}
