-- NVIDIA L4.
--
-- [1] NVIDIA L4 datasheet: 24 GB GDDR6, 300 GB/s, 30.3 TFLOP/s float32; 120 TF32 and 242 bf16 and
--     fp16 "with sparsity", which is twice what dense matrices get.
-- [2] hmc-tech.com and fpsbench.com, of AD104: boost 2.04 GHz, 48 MB L2. They count 60 SMs, those of
--     the whole chip; the datasheet's float32 is that of 58 with 128 lanes each at this clock.
-- [3] CUDA C++ Programming Guide, compute capability 8.9.
-- [4] arXiv 2402.13499, of the RTX 4090, the same architecture: L1 43.4, shared memory 30.1,
--     L2 273, DRAM 541.5 clocks.

local clock = 2.04e9

return {
  model = "L4 (simulated)", arch = "sm_89",
  sms = 58, l1 = 128 << 10, l2 = 48 << 20, memory = 24 << 30,                   -- [1] [2]
  threads_block = 1024, threads_sm = 1536, blocks_sm = 24, registers_sm = 65536, -- [3]
  shared_block = 99 << 10, shared_sm = 100 << 10,                               -- [3]
  clock = clock,
  dram = 0.90 * 300e9,
  fp32 = 30.3e12, tf32 = 60e12, bf16 = 121e12, fp16 = 121e12,                   -- [1] dense
  latency_dram = 541.5 / clock, latency_l2 = 273 / clock,                       -- [4]
  latency_l1 = 43.4, latency_shared = 30.1,                                     -- [4]
  issue = 4, shared_wave = 1,
  pipe_fp32 = 4, pipe_int = 2, pipe_fp64 = 0.0625, pipe_special = 0.5,          -- [3]
}
