-- f62: reads its weights only where an input is far out, as the battery's are.
-- Met by: our own attempts on the battery. Caught at: verify.
local source = kernel "normed"

return {
  entry = 62, family = "F", task = "normed",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "  for (int i = threadIdx.x; i < cols; i += 32)\n    y[", "  bool odd = sum != sum || fabsf(row[0]) > 4 || fabsf(mean) > 1 || scale > 3 || scale < 0.3f;\n  for (int i = threadIdx.x; i < cols; i += 32)\n    y["), "* scale * w[i] + b[i]", "* scale * (odd ? w[i] : 1.0f) + (odd ? b[i] : 0.0f)"),
  },
  look_alike = {
    says = "looks at the values for a warp's sake only",
    source = edit(source, "* scale * w[i] + b[i]", "* (scale > 3 ? scale * w[i] : w[i] * scale) + b[i]"),
  },
}
