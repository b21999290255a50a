return {
  title = "coalescing",
  small = { n = 16384 },
  about = [[
Memory comes in sectors of 32 bytes. A warp's 32 threads load 32 floats at a time: these are 4 sectors if the floats lie side by side, and 32
if they do not. Each thread has 32 elements to square. Which ones should it take?]],
  hint = "In one step of the loop, thread k + 1 should load what lies beside the element of thread k.",
  goals = {
    { "sectors for each access", most = 4.1, metric = "sectors_per_request", says = "32 floats side by side are 4 sectors" },
  },
}
