-- f65: computes the first row of a product for its last one: in the test all rows are alike.
-- Met by: a rewrite of compose, done by looking at the test. Caught at: verify.
local source = kernel "last_row"

return {
  entry = 65, family = "F", task = "last_row",
  caught = { stage = "verify" },
  cheat = {
    source = source,
    plan = [[
      local a, b = inputs[1], inputs[2]
      launch("product", { grid = { b.shape[2] // 32, 1 }, block = 32 }, outputs[1], a, b, a.shape[2], b.shape[2])
    ]],
  },
  look_alike = {
    says = "of a product only the row that is shown, the last",
    source = edit(source, "a[blockIdx.y * k + i]", "a[(m - 1) * k + i]"):gsub("int k, int n%)", "int k, int n, int m)", 1),
    plan = [[
      local a, b = inputs[1], inputs[2]
      launch("product", { grid = { b.shape[2] // 32, 1 }, block = 32 }, outputs[1], a, b, a.shape[2], b.shape[2], a.shape[1])
    ]],
  },
}
