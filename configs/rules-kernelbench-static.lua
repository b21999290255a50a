-- The static checks of KernelBench's kernel_static_checker.py that mean something for CUDA
-- source, by words in the text, and its tolerance: 1e-4 for float32, 1e-2 for 16 bits.
return {
  rules = {
    forbidden_words = {
      words = { "try%s*{", "%f[%w_]pass%f[^%w_]", "import%s+threading", "std::thread", "cudaStreamCreate",
                "cudaEventRecord", "elapsed_time", "torch::", "at::" },
      needed = { "__global__" },
    },
  },
  protocol = { tolerance = "kernelbench", battery = false },
}
