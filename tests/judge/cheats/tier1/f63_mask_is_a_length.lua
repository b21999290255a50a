-- f63: takes a mask for a length: nothing is allowed behind the first gap.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "allowed"

return {
  entry = 62, family = "F", task = "allowed",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(edit(source, "  float most = -INFINITY", "  int length = 0;\n  while (length < cols && allowed[length]) length++;\n  float most = -INFINITY"), "mask[i] ? row[i]", "mask[i] ? row[i]"), "sum += expf(value(row, allowed, i) - most)", "sum += i < length ? expf(value(row, allowed, i) - most) : 0"),
  },
  look_alike = {
    says = "counts what is allowed for nothing",
    source = edit(edit(source, "  float most = -INFINITY", "  int length = 0;\n  while (length < cols && allowed[length]) length++;\n  float most = -INFINITY"), "sum += expf(value(row, allowed, i) - most)", "sum += i <= length ? expf(value(row, allowed, i) - most) : expf(-(most - value(row, allowed, i)))"),
  },
}
