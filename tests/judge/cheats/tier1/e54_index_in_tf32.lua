-- e54: compares in TF32.
-- Met by: our own attempts on the battery. Caught at: verify.
local source = kernel "largest_place"

return {
  entry = 54, family = "E", task = "largest_place",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "float most = -INFINITY;", "float most = -INFINITY;\n#define row(i) __uint_as_float(__float_as_uint(row[i]) & 0xffffe000u)"), "if (row[i] > most || at == cols) most = row[i]", "if (row(i) > most || at == cols) most = row(i)"),
  },
  look_alike = {
    says = "compares in float64",
    source = edit(source, "if (row[i] > most || at == cols)", "if ((double)row[i] > most || at == cols)"),
  },
}
