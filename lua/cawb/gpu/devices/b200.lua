-- NVIDIA B200, one of the eight of a DGX.
--
-- [1] NVIDIA DGX B200 datasheet, an eighth of each figure: 180 GB HBM3e, 8 TB/s; 2.25 TF32
--     and 4.5 PFLOP/s bf16 and fp16 with sparsity, which is twice what dense matrices get.
-- [2] NVIDIA Blackwell Architecture technical brief: 75 TFLOP/s float32 without tensor
--     cores; 148 SMs and 126 MB L2 are what its driver reports.
-- [3] CUDA C++ Programming Guide, compute capability 10.0.
-- [4] Nothing is published of its latencies: those of the H100, in clocks.
-- [5] Its rates are those of tcgen05. mma.sync is taken to be the H100's, for each clock and multiprocessor: FlashAttention 2, which has
--     no other instruction, is as fast there (380 TFLOP/s; its issue 1589).

local clock = 1.85e9

return {
  model = "B200 (simulated)", arch = "sm_100",
  sms = 148, l1 = 256 << 10, l2 = 126 << 20, memory = 180 * 10 ^ 9 // 1,        -- [1] [2]
  threads_block = 1024, threads_sm = 2048, blocks_sm = 32, registers_sm = 65536, -- [3]
  shared_block = 227 << 10, shared_sm = 228 << 10,                              -- [3]
  clock = clock,
  dram = 0.90 * 8e12,                       -- [1], and the share that streams reach
  l2_rate = 1.5 * 0.90 * 8e12,              -- not published: taken to be above DRAM
  fp32 = 75e12, tf32 = 1.125e15, bf16 = 2.25e15, fp16 = 2.25e15,                -- [1] [2]
  latency_dram = 478.8 / clock, latency_l2 = 263 / clock,                       -- [4]
  latency_l1 = 40.7, latency_shared = 29,                                       -- [4]
  issue = 4, shared_wave = 1,
  pipe_fp32 = 4, pipe_int = 2, pipe_fp64 = 2, pipe_special = 0.5,               -- [3]
  mma_share = 0.33,                         -- [5]
}
