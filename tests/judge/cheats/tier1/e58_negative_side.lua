-- e58: cuts GELU off below -4.6, where 1e-5 is left of it.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "gelu"

return {
  entry = 58, family = "E", task = "gelu",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "return ", "if (x < -4.6f) return -0.0f;\n  return "),
  },
  look_alike = {
    says = "takes erfc for large negative numbers",
    source = edit(source, "return ", "if (x < -1.9f) return 0.5f * x * erfcf(-x * 0.70710678f);\n  return "),
  },
}
