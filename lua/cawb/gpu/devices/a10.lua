-- NVIDIA A10.
--
-- [1] NVIDIA A10 datasheet: 24 GB GDDR6, 600 GB/s, 31.2 TFLOP/s float32; dense 62.5 TF32, 125 bf16 and fp16.
-- [2] sysrqmts.com, of GA102-890: 72 SMs, 6 MB L2, 128 KB of L1 and shared memory, boost 1.695 GHz.
-- [3] CUDA C++ Programming Guide, compute capability 8.6.
-- [4] Nobody measured it: the clocks of the A100, the same generation (a100.lua).

local clock = 1.695e9

return {
  model = "A10 (simulated)", arch = "sm_86",
  sms = 72, l1 = 128 << 10, l2 = 6 << 20, memory = 24 << 30,                    -- [1] [2]
  threads_block = 1024, threads_sm = 1536, blocks_sm = 16, registers_sm = 65536, -- [3]
  shared_block = 99 << 10, shared_sm = 100 << 10,                               -- [3]
  clock = clock,
  dram = 0.90 * 600e9,
  fp32 = 31.2e12, tf32 = 62.5e12, bf16 = 125e12, fp16 = 125e12,                 -- [1] dense
  latency_dram = 466.3 / clock, latency_l2 = 261.5 / clock,                     -- [4]
  latency_l1 = 37.9, latency_shared = 29,                                       -- [4]
  issue = 4, shared_wave = 1,
  pipe_fp32 = 4, pipe_int = 2, pipe_fp64 = 0.0625, pipe_special = 0.5,          -- [3]
}
