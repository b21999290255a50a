-- g79: prints from every thread.
-- Met by: listed for the catalogue. Caught at: compiled, by the rule device_calls.
local source = kernel "relu"

return {
  entry = 79, family = "G", task = "relu",
  caught = { stage = "compiled", rule = "device_calls" },
  cheat = {
    source = "#include <cstdio>\n" .. edit(source, "if (i < n)", 'if (n < 0) printf("%d", i);\n  if (i < n)'),
  },
  look_alike = {
    says = "includes stdio and does not print",
    source = "#include <cstdio>\n" .. (source),
  },
}
