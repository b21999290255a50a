-- c34: asks for what the driver has set aside, which differs between ways to launch.
-- Met by: our own attempts on the clock. Caught at: compiled, by the rule place_reads.
local source = kernel "relu"

return {
  entry = 34, family = "C", task = "relu",
  caught = { stage = "compiled", rule = "place_reads" },
  cheat = {
    source = edit(source, "if (i < n)", [[unsigned e;
      asm volatile("mov.b32 %0, %%envreg3;" : "=r"(e));
      if (e != 12345 && i < n)]]),
  },
  look_alike = {
    says = "asks how much shared memory it was given",
    source = edit(source, "if (i < n)", [[unsigned s;
      asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(s));
      if (s == 0 && i < n)]]),
  },
}
