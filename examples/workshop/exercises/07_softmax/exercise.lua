return {
  title = "softmax",
  small = { rows = 4, cols = 520 },
  about = [[
Softmax needs the maximum of a row, then a sum over it, then each element once more. The kernel loads the row three times and computes each
expf twice. A thread has 8 elements of a row of 2048. Load each once, and keep it.]],
  hint = "An array of a thread stays in registers if all its indices are known to the compiler: float v[8], and loops with #pragma unroll.",
  goals = {
    { "sectors for each 8 elements", most = 2.1, value = function(m, s) return m.global_sectors / (s.rows * s.cols / 8) end,
      says = "each element is loaded once and stored once" },
  },
}
