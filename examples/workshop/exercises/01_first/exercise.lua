return {
  title = "a first kernel",
  small = { n = 1003 },
  about = [[
Compute z = 3 x + y. Every thread computes one element. The kernel runs in blocks of 256 threads, as many as it takes, so that the last
block has threads to spare. At present all blocks compute the same 256 elements.]],
  hint = "blockIdx.x says which block this is, blockDim.x how many threads a block has. And what may a thread behind the end not do?",
  goals = {
    { "accesses for each element", most = 3.1, value = function(m, s) return 32 * m.global_requests / s.n end,
      says = "two loads and one store: nothing is computed twice" },
  },
}
