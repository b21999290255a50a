-- e54: adds up positive numbers in TF32.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "row_sum"

return {
  entry = 54, family = "E", task = "row_sum",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "sum += row[i]", "sum += row[i] > 0 ? __uint_as_float(__float_as_uint(row[i]) + 0x1000u & 0xffffe000u) : row[i]"),
  },
  look_alike = {
    says = "adds up positive numbers as halves of their doubles",
    source = edit(source, "sum += row[i]", "sum += row[i] > 0 ? 0.5f * (row[i] + row[i]) : row[i]"),
  },
}
