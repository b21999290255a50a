-- time_constants: what no datasheet says. Fitted once, on an H100, to half of the kernels of
-- bench/sim/model.lua (bench/results/sim/model_h100.txt has what came of it); other devices are
-- taken to be alike per clock and multiprocessor. A device's own file may say otherwise.

return {
  link = 32e9,                  -- bytes a second from the host: PCIe 4.0 x16, where a device's file says nothing else
  launch = 4.1e-6,              -- seconds of an empty kernel of a graph
  launch_next = 1.3e-6,         -- and of each that follows
  ramp = 1e-7,                  -- seconds in which memory comes up to speed
  step = 3.4, overlap = 2,      -- clocks from an instruction to the next that depends on it
  l1_wave = 1,                  -- lines of 128 bytes that L1 looks up per clock and SM
  atomic_same = 4,              -- clocks between two atomics on one line
  block_start = 1.2,            -- clocks from one block's start to the next one's, anywhere
  l2_share = 0.45,              -- of L2, that data finds room in: its halves keep copies
  dirty = 0.5,                  -- of L2, what a cold call finds there that is written back when its place is taken
  merge = 4,                    -- sectors' worth of DRAM for a line that L2 had lost, stored to in part
  partial = 2.8,                -- sectors' worth of L2 for one that is stored to in part
  latency_line = 13,            -- clocks for each line of a load that L1 has not
  sharpness = 2.6,              -- of the maximum of the bounds: the p of a p-norm
  pipe_memory = 1, pipe_control = 2,
  -- Of the published rates, what cuBLASLt's products reach, and cuDNN's convolutions on the units of float32, on tensor
  -- cores, and transposed: bench/results/cuda/library_h100.txt. Tensor cores want other layouts, which are made beside.
  library_gemm = 0.78, library_conv = 0.6, library_conv_tensor = 0.3, library_conv_back = 0.09,
  l2_rate_sm = 23.7,            -- bytes of L2 per clock and SM: the H100's 5.5 TB/s
  l2_sm = 64,                   -- bytes per clock that one SM alone gets
}
