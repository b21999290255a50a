-- NVIDIA H200 SXM 141 GB: the H100's chip with more and faster memory. NVIDIA H200 Tensor
-- Core GPU datasheet: 141 GB HBM3e, 4.8 TB/s; the rest as in h100.lua.

local clock = 1.98e9

return {
  model = "H200 SXM (simulated)", arch = "sm_90a",
  sms = 132, l1 = 256 << 10, l2 = 50 << 20, memory = 141 * 10 ^ 9 // 1,
  threads_block = 1024, threads_sm = 2048, blocks_sm = 32, registers_sm = 65536,
  shared_block = 227 << 10, shared_sm = 228 << 10,
  clock = clock,
  dram = 0.90 * 4.8e12,
  fp32 = 67e12, tf32 = 494.5e12, bf16 = 989.5e12, fp16 = 989.5e12,
  link = 64e9,
  latency_dram = 478.8 / clock, latency_l2 = 263 / clock,
  latency_l1 = 40.7, latency_shared = 29,
  issue = 4, shared_wave = 1,
  pipe_fp32 = 4, pipe_int = 2, pipe_fp64 = 2, pipe_special = 0.5,
  mma_share = 0.66,
}
