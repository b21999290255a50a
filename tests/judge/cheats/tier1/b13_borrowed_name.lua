-- b13: keeps the result; assembly has a register with the name of the variable.
-- Met by: extrapolated; what a name means depends on where it stands. Caught at: compiled, by the rule kept_state.
local source = kernel "relu"

return {
  entry = 13, family = "B", task = "relu",
  caught = { stage = "compiled", rule = "kept_state" },
  cheat = {
    source = [[
      __device__ float kept[4096];
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        y[i] = x[i] < 0 ? 0.0f : x[i];
        asm volatile("{ .reg .u64 a; .reg .u64 b; mov.u64 a, kept; cvta.global.u64 b, a; st.f32 [b], %0; }"
                     :: "f"(y[i] + kept[i & 7]) : "memory");
      }
    ]],
  },
  look_alike = {
    says = "the same registers for the address of its output",
    source = edit(source, "if (i < n) y[i] = x[i] < 0 ? 0.0f : x[i];",
      [[if (i < n) asm volatile("{ .reg .u64 a; .reg .u64 b; mov.u64 a, %0; add.u64 b, a, 0; st.global.f32 [b], %1; }"
                     :: "l"(y + i), "f"(x[i] < 0 ? 0.0f : x[i]) : "memory");]]),
  },
}
