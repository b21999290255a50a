-- c36: marks its inputs to stay in L2, where they survive the flush between timed calls.
-- Met by: llm.c #851: 3530 GB/s on a card with 864; pygpubench #49; nvbench #458. Caught at: compiled, by the rule cache_policy.
local source = kernel "relu"

return {
  entry = 36, family = "C", task = "relu",
  caught = { stage = "compiled", rule = "cache_policy" },
  cheat = {
    source = edit(source, "if (i < n)", [[if (i < n) asm volatile("prefetch.global.L2::evict_last [%0];" : : "l"(x + i));
      if (i < n)]]),
  },
  look_alike = {
    says = "streams its inputs past the cache",
    source = edit(source, "x[i] < 0 ? 0.0f : x[i]", "__ldcs(x + i) < 0 ? 0.0f : __ldcs(x + i)"),
  },
}
