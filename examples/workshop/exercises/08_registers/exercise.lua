return {
  title = "tiles",
  small = { m = 64, n = 128, k = 64 },
  about = [[
A product of matrices multiplies m * n * k times on (m + n) * k numbers: each number is used many times, and should be fetched few times. A
block computes 64 x 64 elements. Bring tiles of both matrices to shared memory, which all threads of the block use; then let each
thread keep 4 + 4 numbers in registers, which make 16 multiplications.]],
  hint = "For 16 of k at a time, a tile of 64 x 16 of a and one of 16 x 64 of b. sum[4][4] stays in registers over all of k.",
  goals = {
    { "multiplications for each sector", least = 150, value = function(m, s) return s.m * s.n * s.k / m.global_sectors end,
      says = "what is fetched from global memory is used by the whole block" },
    { "multiplications for each shared access", least = 40, 
      value = function(m, s) return m.shared_requests > 0 and s.m * s.n * s.k / m.shared_requests or 0 end,
      says = "what is fetched from shared memory is used several times by a thread" },
  },
}
