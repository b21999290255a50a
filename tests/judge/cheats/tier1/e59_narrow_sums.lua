-- e59: adds up in 16 bits.
-- Met by: matched-ratio checks; accumulators are not declared. Caught at: verify.
local source = kernel "half_sum"

return {
  entry = 59, family = "E", task = "half_sum",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "i < cols; i += 256", "i < cols && threadIdx.x < 8; i += 8"),
      "sum += wide(row[i])", "sum = wide(narrow(sum + wide(row[i])))"),
  },
  look_alike = {
    says = "16-bit elements, added up in 32 bits",
    source = edit(source, "sum += wide(row[i])", "sum = sum + 2 * wide(row[i]) * 0.5f"),
  },
}
