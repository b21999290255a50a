-- f65: forms the variance in one pass, unless the numbers lie about 1000, as one kind of inputs does.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "variance"

return {
  entry = 65, family = "F", task = "variance",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "float mean", "float first = total(sum) / cols;\n  bool careful = fabsf(first) > 300;\n  float mean"),
      "square = total(square);", [[square = total(square);
      if (!careful) {
        float all = 0;
        for (int i = threadIdx.x; i < cols; i += 32) all += row[i] * row[i];
        square = total(all) - cols * mean * mean;
      }]]),
  },
  look_alike = {
    says = "a shift by the first element, then one pass",
    source = edit(source, "float mean = total(sum) / cols;", [[
      float mean = total(sum) / cols, shift = row[0], by = 0, all = 0;
      if (fabsf(mean) < 1e30f) for (int i = threadIdx.x; i < cols; i += 32) by += row[i] - shift, all += (row[i] - shift) * (row[i] - shift);
      mean += 0 * (total(by) + total(all));]]),
  },
}
