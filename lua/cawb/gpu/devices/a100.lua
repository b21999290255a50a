-- NVIDIA A100 SXM4 80 GB.
--
-- [1] NVIDIA A100 Tensor Core GPU datasheet: 80 GB HBM2e, 2039 GB/s, 19.5 TFLOP/s float32,
--     156 TF32, 312 bf16 and fp16 (dense).
-- [2] NVIDIA A100 Tensor Core GPU Architecture white paper: 108 SMs, 40 MB L2, 192 KB of L1
--     and shared memory, 64 float32, 64 integer and 32 float64 lanes an SM; boost 1.41 GHz.
-- [3] CUDA C++ Programming Guide, compute capability 8.0.
-- [4] arXiv 2402.13499: latencies of L1 37.9, shared memory 29, L2 261.5, DRAM 466.3 clocks.
-- [5] arXiv 2208.11174: a sum that needs the one before takes 4 clocks.

local clock = 1.41e9

return {
  model = "A100 SXM4 80 GB (simulated)", arch = "sm_80",
  sms = 108, l1 = 192 << 10, l2 = 40 << 20, memory = 80 << 30,                  -- [1] [2]
  threads_block = 1024, threads_sm = 2048, blocks_sm = 32, registers_sm = 65536, -- [3]
  shared_block = 163 << 10, shared_sm = 164 << 10,                              -- [3]
  clock = clock,
  dram = 0.90 * 2.039e12,
  fp32 = 19.5e12, tf32 = 156e12, bf16 = 312e12, fp16 = 312e12,                  -- [1]
  latency_dram = 466.3 / clock, latency_l2 = 261.5 / clock,                     -- [4]
  latency_l1 = 37.9, latency_shared = 29,                                       -- [4]
  latency_alu = 4,                                                              -- [5]
  issue = 4, shared_wave = 1,                                                   -- [2]
  pipe_fp32 = 2, pipe_int = 2, pipe_fp64 = 1, pipe_special = 0.5,               -- [3]
}
