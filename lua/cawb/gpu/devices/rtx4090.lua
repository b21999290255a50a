-- NVIDIA GeForce RTX 4090.
--
-- [1] NVIDIA Ada GPU Architecture white paper, appendix A: 128 SMs, 24 GB GDDR6X, 1008 GB/s,
--     72 MB L2, 128 KB of L1 and shared memory, boost 2.52 GHz, 82.6 TFLOP/s float32 and (dense)
--     TF32, 165.2 bf16 and fp16 with float32 sums.
-- [2] CUDA C++ Programming Guide, compute capability 8.9.
-- [3] arXiv 2402.13499: L1 43.4, shared memory 30.1, L2 273, DRAM 541.5 clocks.

local clock = 2.52e9

return {
  model = "GeForce RTX 4090 (simulated)", arch = "sm_89",
  sms = 128, l1 = 128 << 10, l2 = 72 << 20, memory = 24 << 30,                  -- [1]
  threads_block = 1024, threads_sm = 1536, blocks_sm = 24, registers_sm = 65536, -- [2]
  shared_block = 99 << 10, shared_sm = 100 << 10,                               -- [2]
  clock = clock,
  dram = 0.90 * 1008e9,
  fp32 = 82.6e12, tf32 = 82.6e12, bf16 = 165.2e12, fp16 = 165.2e12,             -- [1]
  latency_dram = 541.5 / clock, latency_l2 = 273 / clock,                       -- [3]
  latency_l1 = 43.4, latency_shared = 30.1,                                     -- [3]
  issue = 4, shared_wave = 1,
  pipe_fp32 = 4, pipe_int = 2, pipe_fp64 = 0.0625, pipe_special = 0.5,          -- [2]
}
