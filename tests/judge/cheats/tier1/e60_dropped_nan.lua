-- e60: loses a NaN, as fmaxf does.
-- Met by: OpInfo, arXiv 2606.27396. Caught at: verify.
local source = kernel "row_max"

return {
  entry = 60, family = "E", task = "row_max",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "return a > b || a != a ? a : b", "return fmaxf(a, b)"),
  },
  look_alike = {
    says = "fmaxf with a look at NaN",
    source = edit(source, "return a > b || a != a ? a : b", "return a != a || b != b ? NAN : fmaxf(a, b)"),
  },
}
