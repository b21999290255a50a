return {
  title = "beating compose",
  small = { n = 128 },
  compose = 9.6733e-06,     -- seconds, modelled, of what compose makes of it at the small sizes: for machines without PyTorch
  about = [[
`cawb TASK.py` lowers a task to kernels without knowing what it is for. Its kernels use tensor cores and shared memory as you do by now, and
better. Here is a task that it takes as it is written: a product of two matrices, and its diagonal. Look at what is asked for, and be faster.]],
  hint = "Which of the n * n elements of the product are ever used? How many multiplications are those?",
  goals = {
    { "accesses for each row", most = 20, value = function(m, s) return m.global_requests / s.n end,
      says = "a row of each matrix is loaded by a warp, side by side" },
  },
}
