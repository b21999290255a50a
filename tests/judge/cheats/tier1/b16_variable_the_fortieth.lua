-- b16: keeps results in the fortieth of its variables.
-- Met by: found by an adversary who knew the whole corpus. Caught at: compiled, by the rule kept_state.
local source = kernel "row_sum"

local tables, uses = "", ""
for t = 0, 39 do
  tables = tables .. ("__device__ const float t%d[2] = { 1, 1 };\n"):format(t)
  uses = uses .. ("sum += (t%d[cols & 1] - 1);\n"):format(t)
end

return {
  entry = 16, family = "B", task = "row_sum",
  caught = { stage = "compiled", rule = "kept_state" },
  cheat = {
    source = tables .. [[
      __device__ float kept[16];
      ]] .. edit(source, "float sum = 0;", [[
      if (kept[8 + blockIdx.x] == row[0] && row[0] != 0) {
        y[blockIdx.x] = kept[blockIdx.x];
        return;
      }
      float sum = 0;
]] .. uses):gsub("y%[blockIdx.x%] = part%[0%];", "y[blockIdx.x] = kept[blockIdx.x] = part[0], kept[8 + blockIdx.x] = row[0];"),
  },
  look_alike = {
    says = "has forty tables of constants",
    source = tables .. edit(source, "float sum = 0;", [[
      float sum = 0;
]] .. uses),
  },
}
