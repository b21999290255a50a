/* sim_figures.h - the figures of an H100, for tests of the simulated device in C. */
#ifndef CAWB_TESTS_SIM_FIGURES_H
#define CAWB_TESTS_SIM_FIGURES_H

#include <stdlib.h>

#include "gpu/device/device.h"
#include "sim/open.h"

#define SIM_FIGURES \
  "{\"model\":\"H100\",\"arch\":\"sm_90\",\"sms\":132,\"memory\":85899345920,\"l1\":262144," \
  "\"l2\":52428800,\"shared_block\":232448,\"shared_sm\":233472,\"threads_block\":1024," \
  "\"threads_sm\":2048,\"blocks_sm\":32,\"registers_sm\":65536,\"clock\":1.755e9,\"dram\":3e12," \
  "\"l2_rate\":5.5e12,\"l2_sm\":64,\"fp32\":67e12,\"tf32\":494.5e12,\"bf16\":989.5e12,\"fp16\":989.5e12," \
  "\"link\":64e9,\"launch\":2e-6,\"launch_next\":1e-6,\"launch_dependent\":2e-7,\"latency_dram\":3e-7,\"latency_l2\":1.5e-7," \
  "\"latency_l1\":40,\"latency_shared\":30,\"latency_alu\":4,\"latency_product\":4,\"latency_predicate\":8,\"latency_special\":18,\"latency_fp64\":8,\"latency_shuffle\":23,\"latency_tensor\":33,\"latency_atomic\":60,\"latency_half\":8,\"latency_barrier\":13.5,\"barrier_warp\":2,\"latency_cluster\":770,\"latency_fence\":670,\"fence_system\":1240,\"latency_branch\":5,\"heap_call\":6e-6,\"heap_lane\":1e-6,\"heap_next\":1e-7,\"print_call\":2e-5,\"atomic_integer\":1.2,\"gap\":1,\"issue\":4," \
  "\"shared_wave\":1,\"l1_wave\":1,\"atomic_same\":4,\"block_start\":1.2,\"l2_share\":0.6,\"dirty\":0.5,\"merge\":4,\"partial\":3,\"latency_line\":4,\"ramp\":1e-6," \
  "\"sharpness\":4,\"pipe_fp32\":4,\"pipe_int\":2,\"pipe_fp64\":2,\"pipe_special\":0.5," \
  "\"pipe_memory\":1,\"pipe_control\":2,\"pipe_tensor\":1,\"mma_share\":0.66,\"library_gemm\":0.78,\"library_conv\":0.6,\"library_conv_tensor\":0.3,\"library_conv_back\":0.09}"

static inline cawb_status open_h100(cawb_device **out, cawb_err *err) {
  static cawb_figures figures;         /* read once: some tests let malloc fail */
  cawb_status rc = CAWB_OK;
  if (figures.sms < 1) {
    cJSON *json = cJSON_Parse(SIM_FIGURES);
    rc = cawb_figures_read(&figures, json, err);
    cJSON_Delete(json);
  }
  if (rc == CAWB_OK) rc = cawb_device_open_sim(out, "h100", &figures, err);
  const char *threads = getenv("CAWB_TEST_THREADS");
  if (rc == CAWB_OK && threads != NULL) cawb_device_threads(*out, (unsigned)atoi(threads));
  return rc;
}

#endif
