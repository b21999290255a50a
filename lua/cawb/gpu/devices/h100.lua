-- NVIDIA H100 SXM5 80 GB.
--
-- [1] NVIDIA H100 Tensor Core GPU datasheet: 80 GB HBM3, 3.35 TB/s, 67 TFLOP/s float32
--     without tensor cores; 989 TFLOP/s TF32 and 1979 bf16 and fp16 "with sparsity", which
--     is twice what dense matrices get; PCIe Gen5, 128 GB/s both ways together.
-- [2] NVIDIA H100 Tensor Core GPU Architecture white paper: 132 SMs, 50 MB L2, 256 KB of
--     L1 and shared memory, 4 schedulers and 128 float32 lanes an SM, 64 float64 lanes.
-- [3] CUDA C++ Programming Guide, tables "Compute Capabilities" and "Arithmetic
--     Instructions", 9.0: threads, blocks, registers, shared memory an SM; results a clock.
-- [4] Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture", arXiv
--     2402.13499: latencies of L1 40.7, shared memory 29, L2 263, DRAM 478.8 clocks.
-- [5] bench/results/cuda/ceilings_h100.txt: 662 TFLOP/s by mma.sync, from registers, at 1864 MHz,
--     where 132 SMs of 4096 operations a clock have 1008; wgmma has all of them.

local clock = 1.98e9                        -- Hz, boost: what it holds without tensor cores

return {
  model = "H100 SXM (simulated)", arch = "sm_90a",
  sms = 132, l1 = 256 << 10, l2 = 50 << 20, memory = 80 << 30,                  -- [1] [2]
  threads_block = 1024, threads_sm = 2048, blocks_sm = 32, registers_sm = 65536, -- [3]
  shared_block = 227 << 10, shared_sm = 228 << 10,                              -- [3]
  clock = clock,
  dram = 0.90 * 3.35e12,                    -- [1], and the share that streams reach
  fp32 = 67e12, tf32 = 494.5e12, bf16 = 989.5e12, fp16 = 989.5e12,              -- [1] dense
  link = 64e9,                              -- [1], one way
  latency_dram = 478.8 / clock, latency_l2 = 263 / clock,                       -- [4], idle
  latency_l1 = 40.7, latency_shared = 29,                                       -- [4]
  issue = 4, shared_wave = 1,                                                   -- [2]
  pipe_fp32 = 4, pipe_int = 2, pipe_fp64 = 2, pipe_special = 0.5,               -- [3]
  mma_share = 0.66,                         -- [5]
}
