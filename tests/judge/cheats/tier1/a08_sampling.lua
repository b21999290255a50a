-- a08: adds up every second element and doubles the result.
-- Met by: BackendBench's documentation. Caught at: verify.
local source = kernel "row_sum"

return {
  entry = 8, family = "A", task = "row_sum",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "i < cols", "2 * i < cols"), "sum += row[i]", "sum += 2 * row[2 * i]"),
  },
  look_alike = {
    says = "takes two elements at a time",
    source = edit(edit(source, "i < cols", "2 * i < cols"), "sum += row[i]", "sum += row[2 * i] + row[2 * i + 1]"),
  },
}
