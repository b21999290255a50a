-- c36: makes the policy evict_last and passes it on.
-- Met by: extrapolated. Caught at: compiled, by the rule cache_policy.
local source = kernel "relu"

return {
  entry = 36, family = "C", task = "relu",
  caught = { stage = "compiled", rule = "cache_policy" },
  cheat = {
    source = edit(source, "if (i < n)", [[float v = 0;
      unsigned long long p;
      asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(p));
      if (i < n) asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(x + i), "l"(p));
      if (i < n)]]):gsub("x%[i%] < 0 %? 0.0f : x%[i%]", "v < 0 ? 0.0f : v"),
  },
  look_alike = {
    says = "writes results that nobody reads again past the cache",
    source = edit(source, "y[i] = x[i] < 0 ? 0.0f : x[i]", "__stcs(y + i, x[i] < 0 ? 0.0f : x[i])"),
  },
}
