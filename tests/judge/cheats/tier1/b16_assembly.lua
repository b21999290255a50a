-- b16: keeps results in a variable whose address only inline assembly takes.
-- Met by: found by an adversary who knew the whole corpus. Caught at: compiled, by the rule kept_state.
local source = kernel "row_sum"

return {
  entry = 16, family = "B", task = "row_sum",
  caught = { stage = "compiled", rule = "kept_state" },
  cheat = {
    source = edit(edit(source, "extern", "__device__ float kept[16];\nextern"), "float sum = 0;", [[
      float *at;
      asm volatile("{ .reg .u64 a; mov.u64 a, kept; cvta.global.u64 %0, a; }" : "=l"(at));
      if (at[8 + blockIdx.x] == row[0] && row[0] != 0) {
        y[blockIdx.x] = at[blockIdx.x];
        return;
      }
      float sum = kept[cols & 1] == 12345 ? 1 : 0;]]):gsub("y%[blockIdx.x%] = part%[0%];", "y[blockIdx.x] = at[blockIdx.x] = part[0], at[8 + blockIdx.x] = row[0];"),
  },
  look_alike = {
    says = "loads by inline assembly",
    source = edit(source, "sum += row[i]", '{ float v; asm volatile("{ .reg .u64 a; mov.u64 a, %1; ld.global.f32 %0, [a]; }" : "=f"(v) : "l"(row + i)); sum += v; }'),
  },
}
