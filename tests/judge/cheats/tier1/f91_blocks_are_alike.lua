-- f91: multiplies by the first of two blocks twice: in the test they are alike.
-- Met by: a rewrite of compose, done by looking at the test. Caught at: verify.
local source = kernel "blocks"
local loop = source:match "for .*\n  }\n"

return {
  entry = 91, family = "F", task = "blocks",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "w = b[", "w = a["),
  },
  look_alike = {
    says = "zeros beside the blocks are not multiplied: the task puts them there",
    source = edit(source, loop, "const float *w = i < k ? a + i * k : b + (i - k) * k, *from = c + (i < k ? 0 : k) * n;\n  for (int p = 0; p < k; p++) sum += w[p] * from[p * n + j];\n"),
  },
}
