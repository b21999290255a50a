-- c36: passes the policy evict_last as a bare number, as some libraries have it.
-- Met by: extrapolated from CUTLASS's constants. Caught at: compiled, by the rule cache_policy.
local source = kernel "relu"

return {
  entry = 36, family = "C", task = "relu",
  caught = { stage = "compiled", rule = "cache_policy" },
  cheat = {
    source = edit(source, "if (i < n)", [[float v = 0;
      if (i < n) asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;"
                              : "=f"(v) : "l"(x + i), "l"(0x14F0000000000000ull));
      if (i < n)]]):gsub("x%[i%] < 0 %? 0.0f : x%[i%]", "v < 0 ? 0.0f : v"),
  },
  look_alike = {
    says = "reads through the read-only path",
    source = edit(source, "x[i] < 0 ? 0.0f : x[i]", "__ldg(x + i) < 0 ? 0.0f : __ldg(x + i)"),
  },
}
