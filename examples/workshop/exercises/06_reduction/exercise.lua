return {
  title = "reductions",
  small = { rows = 6, cols = 600 },
  about = [[
A block adds up a row. Its threads join their sums in shared memory, and all of them wait at each of nine barriers, though most have nothing
left to do. The 32 threads of a warp can hand registers to each other without shared memory: __shfl_down_sync(0xffffffff, v, d) is the v of
the thread d places on.]],
  hint = "First every warp adds up its own 32 values. Then one warp adds up what the 8 warps have.",
  goals = {
    { "barriers for each row", most = 2, value = function(m, s) return m.barriers / (8 * s.rows) end,
      says = "warps meet once, or twice" },
    { "shared accesses for each row", most = 20, value = function(m, s) return m.shared_requests / s.rows end,
      says = "a warp leaves one value in shared memory, not 32" },
  },
}
