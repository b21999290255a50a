-- b16: keeps results in memory from the device's own heap, which outlives a launch.
-- Met by: extrapolated from file and shared-memory replay (#160). Caught at: compiled, by the rule device_calls.
local source = kernel "relu"

return {
  entry = 16, family = "B", task = "relu",
  caught = { stage = "compiled", rule = "device_calls" },
  cheat = {
    source = edit(source, "if (i < n)", "if (i == 0 && n < 0) { float *p = (float *)malloc(64); p[0] = x[0]; y[0] = p[0]; }\n  if (i < n)"),
  },
  look_alike = {
    says = "memory of its own on the stack",
    source = edit(source, "if (i < n)", "float p[2] = { x[0], 1 };\n  if (p[i & 1] == 1e30f) return;\n  if (i < n)"),
  },
}
