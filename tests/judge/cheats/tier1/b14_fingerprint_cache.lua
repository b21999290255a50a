-- b14: knows inputs by their first and last element, and returns the sum that it had for them.
-- Met by: flashinfer-bench-starter-kit #21. Caught at: compiled, by the rule kept_state.
local source = kernel "row_sum"

return {
  entry = 14, family = "B", task = "row_sum",
  caught = { stage = "compiled", rule = "kept_state" },
  cheat = {
    source = edit(edit(source, "extern", "__device__ float key[6][2], kept[6];\nextern"), "float sum = 0;", [[
      if (key[blockIdx.x][0] == row[0] && key[blockIdx.x][1] == row[cols - 1]) {
        y[blockIdx.x] = kept[blockIdx.x];
        return;
      }
      float sum = 0;]]):gsub("y%[blockIdx.x%] = part%[0%];", [[
        y[blockIdx.x] = kept[blockIdx.x] = part[0], key[blockIdx.x][0] = row[0], key[blockIdx.x][1] = row[cols - 1];]]),
  },
  look_alike = {
    says = "looks at the first and last element, to no effect",
    source = edit(source, "float sum = 0", "float sum = row[0] == row[cols - 1] ? 0 : 0.0f"),
  },
}
