-- a02: leaves an output alone that already holds a number, as after the first call.
-- Met by: destination-passing harnesses (tensara #238). Caught at: verify.
local source = kernel "relu"

return {
  entry = 2, family = "A", task = "relu",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "if (i < n)", "if (i < n && y[i] != y[i])"),
  },
  look_alike = {
    says = "reads back what it wrote itself",
    source = edit(source, "if (i < n) y[i] =", "if (i < n) y[i] = -1, __threadfence(), y[i] = y[i] + 1 +"),
  },
}
