-- c36: fetches its inputs for the next call, with the wish that L2 keeps them.
-- Met by: extrapolated. Caught at: compiled, by the rule cache_policy.
local source = kernel "relu"

return {
  entry = 36, family = "C", task = "relu",
  caught = { stage = "compiled", rule = "cache_policy" },
  cheat = {
    source = edit(source, "if (i < n)", [[if (i < n) asm volatile("prefetch.global.L2::evict_last [%0];" :: "l"(x + i));
      if (i < n)]]),
  },
  look_alike = {
    says = "fetches ahead within its own call",
    source = edit(source, "if (i < n)", [[if (i < n) asm volatile("prefetch.global.L2 [%0];" :: "l"(x + i));
      if (i < n)]]),
  },
}
