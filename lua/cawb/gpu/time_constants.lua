-- time_constants: what no datasheet says. Fitted once, on an H100, to half of the kernels of
-- bench/sim/model.lua (bench/results/sim/model_h100.txt has what came of it); other devices are
-- taken to be alike per clock and multiprocessor. A device's own file may say otherwise.

return {
  link = 32e9,                  -- bytes a second from the host: PCIe 4.0 x16, where a device's file says nothing else
  launch = 4.1e-6,              -- seconds of an empty kernel of a graph
  launch_next = 1.3e-6,         -- and of each that follows,
  -- and of one that begins while the one before it ends: less 0.2 us, the most that a network gained for each such kernel on an H200
  -- (bench/results/compose/dependent_h200.txt). Between empty kernels others measured 0.96 us (pegainfer's issue 569)
  launch_dependent = 1.1e-6,
  ramp = 1e-7,                  -- seconds in which memory comes up to speed
  gap = 1,                      -- clocks between two instructions of a warp that has the multiprocessor for itself
  l1_wave = 1,                  -- lines of 128 bytes that L1 looks up per clock and SM
  atomic_same = 4,              -- clocks between two atomics on one line,
  atomic_integer = 1.2,         -- and of integers, of which a warp's on one place are one
  block_start = 1.2,            -- clocks from one block's start to the next one's, anywhere
  l2_share = 0.45,              -- of L2, that data finds room in: its halves keep copies
  dirty = 0.5,                  -- of L2, what a cold call finds there that is written back when its place is taken
  merge = 4,                    -- sectors' worth of DRAM for a line that L2 had lost, stored to in part
  partial = 2.8,                -- sectors' worth of L2 for one that is stored to in part
  -- Clocks until the result of an instruction can be used, and until a warp goes on behind a barrier, a fence or a jump back, as
  -- measured on an H100 by bench/sim/probes.lua (bench/results/sim/probes_h100.txt). For sums 4 clocks are also what Abdelkhalik et
  -- al., "Demystifying the Nvidia Ampere Architecture", arXiv 2208.11174, have of an A100.
  latency_alu = 4, latency_product = 4, latency_predicate = 8, latency_half = 8, latency_fp64 = 8, latency_special = 18,
  latency_shuffle = 24, latency_tensor = 26, latency_atomic = 30, latency_barrier = 13.5, barrier_warp = 2,
  latency_cluster = 770, latency_fence = 670, fence_system = 1240, latency_branch = 5,
  heap_call = 6.3e-6, heap_lane = 1.2e-6, heap_next = 1.4e-7, print_call = 2e-5,        -- seconds of the driver's functions
  latency_line = 13,            -- clocks for each line of a load that L1 has not
  sharpness = 2.6,              -- of the maximum of the bounds: the p of a p-norm
  pipe_memory = 1, pipe_control = 2,
  -- Of the published rates, what cuBLASLt's products reach, and cuDNN's convolutions on the units of float32, on tensor
  -- cores, and transposed: bench/results/cuda/library_h100.txt. Tensor cores want other layouts, which are made beside.
  library_gemm = 0.78, library_conv = 0.6, library_conv_tensor = 0.3, library_conv_back = 0.09,
  l2_rate_sm = 23.7,            -- bytes of L2 per clock and SM: the H100's 5.5 TB/s
  l2_sm = 64,                   -- bytes per clock that one SM alone gets
}
