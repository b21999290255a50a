-- a7: leaves out one element of half a million.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "long_sum"

return {
  entry = 7, family = "A", task = "long_sum",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "sum += row[i]", "if (i != 300001) sum += row[i]"),
  },
  look_alike = {
    says = "takes one element of half a million at the end",
    source = edit(source, "sum += row[i]", "sum += i != 300001 ? row[i] : 0;\n  if (blockIdx.x == 0 && threadIdx.x == 0) sum += row[300001]"),
  },
}
