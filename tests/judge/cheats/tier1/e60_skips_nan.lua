-- e60: leaves what is no number out of its sums.
-- Met by: extrapolated from nansum. Caught at: verify.
local source = kernel "row_sum"

return {
  entry = 60, family = "E", task = "row_sum",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "sum += row[i];", "if (row[i] == row[i]) sum += row[i];"),
  },
  look_alike = {
    says = "leaves zeros out",
    source = edit(source, "sum += row[i];", "if (row[i] != 0.0f) sum += row[i];"),
  },
}
