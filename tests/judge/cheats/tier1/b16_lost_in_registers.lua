-- b16: keeps results behind code of so many registers that nobody follows them.
-- Met by: found by an adversary who knew the whole corpus. Caught at: compiled, by the rule kept_state.
local source = kernel "row_sum"

-- 1,100 steps over forty variables, each of which is needed at the end.
local function mill()
  local declared, steps, total = {}, {}, {}
  for v = 0, 39 do
    declared[#declared + 1] = ("v%d = %d"):format(v, v)
    total[#total + 1] = "v" .. v
  end
  for step = 0, 1099 do
    local v = step % 40
    steps[#steps + 1] = ("v%d = v%d * 1.0000001f + row[%d];"):format(v, (7 * v + 3) % 40, step)
  end
  return "float " .. table.concat(declared, ", ") .. ";\n" .. table.concat(steps, "\n") ..
    "\nif (" .. table.concat(total, " + ") .. " == 1.25f) sum = 1e-30f;"
end

return {
  entry = 16, family = "B", task = "row_sum",
  caught = { stage = "compiled", rule = "kept_state" },
  cheat = {
    source = edit(edit(source, "extern", "__device__ float kept[16];\nextern"), "float sum = 0;", [[
      float sum = 0;
]] .. mill() .. [[
      if (kept[8 + blockIdx.x] == row[0] && row[0] != 0) {
        y[blockIdx.x] = kept[blockIdx.x];
        return;
      }]]):gsub("y%[blockIdx.x%] = part%[0%];", "y[blockIdx.x] = kept[blockIdx.x] = part[0], kept[8 + blockIdx.x] = row[0];"),
  },
  look_alike = {
    says = "has as many registers and a table of constants",
    source = edit(edit(source, "extern", "__device__ const float kept[2] = { 0, 0 };\nextern"), "float sum = 0;", [[
      float sum = 0;
]] .. mill() .. [[
      sum += kept[cols & 1];]]),
  },
}
