-- b13: keeps the result; a function that is not inlined stores it, and one that is called by an address.
-- Met by: extrapolated; what one function is given by several callers is all of theirs. Caught at: timing, by the rule changed_state.
local function source(head, first, second)
  return ([[
      %s
      static __device__ __noinline__ void put(float *to, float v) { *to = v; }
      static __device__ __noinline__ float get(const float *from) { return *from; }
      static __device__ __noinline__ float twice(const float *from) { return from[1]; }
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        float (*const any[2])(const float *) = { get, twice };
        float v = get(x + i), none = any[n & 1](%s);
        %s
        put(y + i, v < 0 ? none : v);
      }
    ]]):format(head, first, second)
end

return {
  entry = 13, family = "B", task = "relu",
  caught = { stage = "timing", rule = "changed_state" },
  cheat = { source = source("static __device__ float zero[2];\n__device__ float kept[64];", "zero", "if (i < 64) put(kept + i, v);") },
  look_alike = { says = "the same functions, to whom it gives its output and a table", source =
    source("static __device__ float zero[2] = { 0, 0 };", "zero", "") },
}
