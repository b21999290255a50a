/*
** models.c - the GPUs that can be simulated, from published figures.
**
** [1] NVIDIA H100 Tensor Core GPU datasheet: SXM5, 80 GB HBM3, 3.35 TB/s,
**     67 TFLOP/s float32 without tensor cores; 989 TFLOP/s TF32 and 1979 bf16 and fp16
**     "with sparsity", which is twice what dense matrices get.
** [2] NVIDIA H100 Tensor Core GPU Architecture white paper: 132 SMs, 50 MB L2,
**     4 schedulers and 128 float32 lanes an SM, 64 float64 lanes.
** [3] CUDA C++ Programming Guide, "Compute Capabilities" and "Arithmetic
**     Instructions" tables, compute capability 9.0: threads, blocks, registers,
**     shared memory an SM; results per clock of each kind of instruction.
** [4] Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU
**     Architecture", arXiv 2402.13499: L2 throughput, memory latency.
*/
#include "sim.h"

#include <string.h>

static const sim_model models[] = {
  {
    .which = "h100", .model = "H100 SXM (simulated)", .arch = "sm_90",
    .sms = 132,                               /* [2] */
    .memory = (size_t)80 << 30,               /* [1] */
    .l2 = (size_t)50 << 20,                   /* [2] */
    .shared_block = 232448,                   /* [3] 227 KiB */
    .shared_sm = 233472,                      /* [3] 228 KiB */
    .threads_block = 1024, .threads_sm = 2048, .blocks_sm = 32, .registers_sm = 65536, /* [3] */
    .clock = 1.755e9,                         /* Hz under load; 67e12 / (132 * 256) is 1.98e9 boost */
    .dram = 0.90 * 3.35e12,                   /* [1], and the share that streaming kernels reach */
    .l2_rate = 5.5e12,                        /* [4], order of magnitude */
    .fp32 = 67e12,                            /* [1] */
    .tf32 = 494.5e12, .bf16 = 989.5e12, .fp16 = 989.5e12,   /* [1] dense */
    .launch = 2e-6,                           /* a kernel in a graph, start to start */
    .latency_dram = 7e-7, .latency_l2 = 1.5e-7,   /* [4] about 600-800 ns under load; 260 clocks */
    .latency_shared = 30,                     /* [4] */
    .step = 2,                                /* 4 where dependent; half are taken to be independent */
    .issue = 4, .shared_wave = 1,             /* [2]; 128 bytes a clock */
    .pipe = {                                 /* [3] results per clock / 32 lanes */
      [SIM_PIPE_FP32] = 4, [SIM_PIPE_INT] = 2, [SIM_PIPE_FP64] = 2, [SIM_PIPE_SPECIAL] = 0.5,
      [SIM_PIPE_MEMORY] = 1, [SIM_PIPE_CONTROL] = 2
    }
  }
};

const sim_model *sim_model_find(const char *which) {
  for (size_t i = 0; i < sizeof models / sizeof *models; i++)
    if (strcmp(models[i].which, which) == 0) return &models[i];
  return NULL;
}

const char *sim_model_list(void) { return "h100"; }
