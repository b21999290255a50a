-- NVIDIA L40S.
--
-- [1] NVIDIA L40S datasheet: 48 GB GDDR6, 864 GB/s, 91.6 TFLOP/s float32; 366 TF32 and 733
--     bf16 and fp16 "with sparsity", which is twice what dense matrices get.
-- [2] NVIDIA Ada GPU Architecture white paper (AD102): 142 SMs of it, 96 MB L2, 128 KB of L1
--     and shared memory, 128 float32 lanes an SM, half of which do integers, 2 float64 lanes;
--     boost 2.52 GHz.
-- [3] CUDA C++ Programming Guide, compute capability 8.9.
-- [4] arXiv 2402.13499, of the RTX 4090, the same architecture: L1 43.4, shared memory 30.1,
--     L2 273, DRAM 541.5 clocks.

local clock = 2.52e9

return {
  model = "L40S (simulated)", arch = "sm_89",
  sms = 142, l1 = 128 << 10, l2 = 96 << 20, memory = 48 << 30,                  -- [1] [2]
  threads_block = 1024, threads_sm = 1536, blocks_sm = 24, registers_sm = 65536, -- [3]
  shared_block = 99 << 10, shared_sm = 100 << 10,                               -- [3]
  clock = clock,
  dram = 0.90 * 864e9,
  fp32 = 91.6e12, tf32 = 183e12, bf16 = 366e12, fp16 = 366e12,                  -- [1] dense
  latency_dram = 541.5 / clock, latency_l2 = 273 / clock,                       -- [4]
  latency_l1 = 43.4, latency_shared = 30.1,                                     -- [4]
  issue = 4, shared_wave = 1,
  pipe_fp32 = 4, pipe_int = 2, pipe_fp64 = 0.0625, pipe_special = 0.5,          -- [3]
}
