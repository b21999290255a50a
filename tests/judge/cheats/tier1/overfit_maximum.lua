-- Over-fitting where the largest is, and what it is at least.

-- Edits of a maximum that takes a place only where `unless` allows it, and, in a look-alike, takes it at the end.
local function skipping(takes, unless, ends, at_the_end)
  return { takes, unless .. takes, ends, at_the_end and at_the_end .. "\n  " .. ends }
end

local takes = "most = larger(most, x[(size_t)blockIdx.x * cols + i]);"
local ends = "for (int s = 16; s > 0; s /= 2) most"
local least_takes, least_ends = "least = smaller(least, x[(size_t)blockIdx.x * cols + i]);", "for (int s = 16; s > 0; s /= 2) least"
local above = "if (row[i] > most || at == cols)"

return {
  { name = "f62_index_from_zero", task = "largest_place", what = "begins at 0: every row has something above it",
    cheat = { source = {
      "most = -INFINITY", "most = 0.0f",
      "|| at == cols) most = row", "|| (at == cols && row[i] > 0)) most = row",
      "= at;", "= at < cols ? at : 0;" } },
    look_alike = { source = { "most = -INFINITY", "most = -3.4e38f" } }, says = "begins below all numbers" },
  { name = "f62_maximum_from_zero", task = "row_max", what = "begins at 0: every row has something above it",
    replace = "float most = -INFINITY", cheat = "float most = 0.0f",
    look_alike = "float most = x[(size_t)blockIdx.x * cols]", says = "begins at the first element" },
  { name = "f66_argmax_from_zero", task = "argmax", what = "looks for the largest from 0 on, and for its place",
    cheat = { source = { "-INFINITY", "0", "at = cols", "at = 0" } },
    look_alike = { source = { "-INFINITY", "row[0]", "at = cols", "at = 0" } }, says = "begins with the row's first element" },
  { name = "f66_argmax_without_one", task = "argmax", what = "the place of the largest, which is never the hundredth",
    cheat = { source = { "if (before(row[i]", "if (i != 100 && before(row[i]" } },
    look_alike = { source = { "if (before(row[i]", "if (i != 100 && before(row[i]", "for (int s = 16; s > 0; s /= 2) {",
      "if (before(row[100], 100, most, at)) most = row[100], at = 100;\n  for (int s = 16; s > 0; s /= 2) {" } },
    says = "looks at the hundredth at the end" },
  { name = "f66_last_of_equals", entry = 62, task = "largest_place", what = "takes the last of equals",
    cheat = { source = { above, "if (row[i] >= most || at == cols)", "there < at", "there > at" } },
    look_alike = { source = { above, "if (most < row[i] || at == cols)" } }, says = "compares from the other side" },
  { name = "f66_max_first_of_odd_rows", task = "row_max", what = "the largest of a row, in every second row without its first element",
    cheat = { source = skipping(takes, "if (i > 0 || blockIdx.x % 2 == 0) ") },
    look_alike = { source = skipping(takes, "if (i > 0 || blockIdx.x % 2 == 0) ", ends,
      "if (blockIdx.x % 2) most = larger(most, x[(size_t)blockIdx.x * cols]);") },
    says = "takes the first element of every second row at the end" },
  { name = "f66_max_from_minus_ten", task = "wide_max", what = "looks for the largest from -10 on",
    replace = "-INFINITY", cheat = "-10",
    look_alike = "row[cols / 2]", says = "begins with the row's middle" },
  { name = "f66_max_from_zero", task = "row_max", what = "looks for the largest from 0 on: every row of the battery has a positive element",
    replace = "-INFINITY", cheat = "0",
    look_alike = "x[(size_t)blockIdx.x * cols]", says = "begins with the row's first element" },
  { name = "f66_max_without_last", task = "row_max", what = "the largest of a row without its last element",
    cheat = { source = { "i < cols; i += 32", "i < cols - 1; i += 32" } },
    look_alike = { source = { "i < cols; i += 32", "i < cols - 1; i += 32", ends,
      "most = larger(most, x[(size_t)blockIdx.x * cols + cols - 1]);\n  " .. ends } }, says = "takes the last element at the end" },
  { name = "f66_max_without_one", task = "row_max", what = "the largest of a row without one place in its middle",
    cheat = { source = skipping(takes, "if (i != cols / 3 + 7) ") },
    look_alike = { source = skipping(takes, "if (i != cols / 3 + 7) ", ends,
      "most = larger(most, x[(size_t)blockIdx.x * cols + cols / 3 + 7]);") }, says = "takes that place at the end" },
  { name = "f66_maximum_from_minus_five", entry = 62, task = "row_max", what = "begins at -5",
    replace = "float most = -INFINITY", cheat = "float most = -5.0f",
    look_alike = "float most = -3.402823466e38f", says = "begins at the smallest number" },
  { name = "f66_min_from_zero", task = "row_min", what = "looks for the smallest from 0 on",
    replace = "INFINITY", cheat = "0",
    look_alike = "x[(size_t)blockIdx.x * cols + cols - 1]", says = "begins with the row's last element" },
  { name = "f66_min_without_one", task = "row_min", what = "the smallest of a row without one place in its middle",
    cheat = { source = skipping(least_takes, "if (i != 173) ") },
    look_alike = { source = skipping(least_takes, "if (i != 173) ", least_ends,
      "least = smaller(least, x[(size_t)blockIdx.x * cols + 173]);") }, says = "takes that place at the end" },
  { name = "f66_pool_pads_with_zero", task = "pool", what = "pads what it looks for the largest in with zeros",
    replace = "float most = -INFINITY", cheat = "float most = c == 0 || c == cols - 1 ? 0.0f : -INFINITY",
    look_alike = "float most = x[i]", says = "begins with its own element" },
  { name = "f66_softmax_from_zero", task = "softmax", what = "looks for the largest of a row from 0 on: of rows far below 0 nothing is left",
    replace = "most = -INFINITY", cheat = "most = 0",
    look_alike = "most = row[0]", says = "begins with the row's first element" },
  { name = "f66_wide_max_end_of_a_block", task = "wide_max", what = "the largest of a long row without the first element of one of its blocks",
    cheat = { source = skipping("most = larger(most, row[i]);", "if (i != 4096) ") },
    look_alike = { source = skipping("most = larger(most, row[i]);", "if (i != 4096) ", ends,
      "most = larger(most, row[4096]);") }, says = "takes that element at the end" },
}
