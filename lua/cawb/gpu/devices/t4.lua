-- NVIDIA T4.
--
-- [1] NVIDIA T4 datasheet: 16 GB GDDR6, 320 GB/s, 8.1 TFLOP/s float32, 65 TFLOP/s fp16 on
--     tensor cores; PCIe Gen3 x16, 32 GB/s both ways together. They know neither TF32 nor bf16: those go at the float32 rate.
-- [2] NVIDIA Turing GPU Architecture white paper (TU104): 40 SMs of it, 4 MB L2, 96 KB of L1
--     and shared memory, 64 float32 and 64 integer lanes an SM, 2 float64 lanes; boost 1.59 GHz.
-- [3] CUDA C++ Programming Guide, compute capability 7.5.
-- [4] Jia et al., "Dissecting the NVidia Turing T4 GPU via Microbenchmarking", arXiv
--     1903.07486: latencies of L1 32, shared memory 19, L2 188, DRAM 296 clocks.

local clock = 1.59e9

return {
  model = "T4 (simulated)", arch = "sm_75",
  sms = 40, l1 = 96 << 10, l2 = 4 << 20, memory = 16 << 30,                     -- [1] [2]
  threads_block = 1024, threads_sm = 1024, blocks_sm = 16, registers_sm = 65536, -- [3]
  shared_block = 64 << 10, shared_sm = 64 << 10,                                -- [3]
  clock = clock,
  dram = 0.85 * 320e9,                      -- [1], and the share that streams reach [4]
  fp32 = 8.1e12, tf32 = 8.1e12, bf16 = 8.1e12, fp16 = 65e12,                    -- [1]
  link = 16e9,                              -- [1], one way
  latency_dram = 296 / clock, latency_l2 = 188 / clock,                         -- [4]
  latency_l1 = 32, latency_shared = 19,                                         -- [4]
  issue = 4, shared_wave = 1,
  pipe_fp32 = 2, pipe_int = 2, pipe_fp64 = 0.0625, pipe_special = 0.5,          -- [3]
}
