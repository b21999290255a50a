-- e58: takes the fast exponential for arguments beyond three.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "sigmoid"

return {
  entry = 58, family = "E", task = "sigmoid",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "return 1 / (1 + expf(-x))", "if (x < -2.5f) return exp2f(1.4426f * x) / (1 + exp2f(1.4426f * x));\n  return 1 / (1 + expf(-x))"),
  },
  look_alike = {
    says = "takes the reciprocal form beyond three",
    source = edit(source, "return 1 / (1 + expf(-x))", "if (x < -2.5f) { float e = expf(x); return e / (1 + e); }\n  return 1 / (1 + expf(-x))"),
  },
}
