-- The static checks of KernelBench's kernel_static_checker.py that mean something for CUDA
-- source, by words in the text, and its tolerance: 1e-4 for float32, 1e-2 for 16 bits.
return {
  rules = {
    forbidden_words = {
      words = { "try%s*{", "%f[%w_]pass%f[^%w_]", "import%s+threading", "std::thread", "cudaStreamCreate",
                "cudaEventRecord", "elapsed_time", "torch::", "at::" },
      needed = { "__global__" },
    },
    -- Without its demand for __global__ or @triton.jit: the corpus runs on processors too.
    python_words = {
      words = { "try%s*:", "except", "%f[%w_]pass%f[^%w_]", "import%s+threading", "threading%.Thread",
                "import%s+multiprocessing", "concurrent%.futures", "torch%.cuda%.Stream", "torch%.cuda%.stream",
                "elapsed_time%s*=", "torch%.cuda%.synchronize%s*=", "perf_counter%s*=", "_make_subclass",
                "FakeTensor", "LazyTensor" },
    },
  },
  protocol = { tolerance = "kernelbench", battery = false },
}
