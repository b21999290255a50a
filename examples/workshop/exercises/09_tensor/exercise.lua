return {
  title = "tensor cores",
  small = { m = 64, n = 32, k = 32 },
  about = [[
A tensor core multiplies two tiles of 16 x 16 numbers for a whole warp at a time. <mma.h> has fragments for them: load_matrix_sync,
mma_sync, store_matrix_sync. The products are of bfloat16 and the sums of float32, so that nothing is lost on the way. The result is to be
rounded to bfloat16 once, at the end. (cawb skill tensor-core-tiles)]],
  hint = "fill_fragment(sum, 0), then for each 16 of k: load both fragments, mma_sync. store_matrix_sync leaves floats: in shared memory.",
  goals = {
    { "tensor-core instructions in the code", least = 1, metric = "ptx_tensor", says = "mma_sync does the multiplications" },
    { "other arithmetic for each multiplication", most = 0.1,
      value = function(m, s) return 32 * m.pipe_fp32 / (s.m * s.n * s.k) end, says = "the ordinary units multiply no more" },
  },
}
