/*
** figures.h - the description of a simulated GPU: what it has, and how fast its parts
** are. The figures come from outside, as JSON; nothing here knows a GPU.
*/
#ifndef CAWB_DEVICE_FIGURES_H
#define CAWB_DEVICE_FIGURES_H

#include <cjson/cJSON.h>

#include "base/err.h"

/* Bytes, seconds, Hz, and per second, where nothing else is said. All are finite. */
typedef struct cawb_figures {
  char model[96], arch[16];       /* "H100 SXM (simulated)", "sm_90" */
  double sms, memory, l1, l2;     /* multiprocessors; bytes; of L1, shared memory included */
  double shared_block, shared_sm, threads_block, threads_sm, blocks_sm, registers_sm;
  double clock;                   /* of the multiprocessors, under load */
  double dram, l2_rate;           /* bytes a second that streams reach */
  double l2_sm;                   /* bytes a clock that one multiprocessor gets from L2 */
  double fp32, tf32, bf16, fp16;  /* operations a second; the last three of tensor cores */
  double link;                    /* bytes a second from the host, and to it */
  double launch;                  /* from the start of an empty kernel to its end */
  double launch_next;             /* of each further kernel of a graph, */
  double launch_dependent;        /* and of one that begins while the one before it ends */
  double latency_dram, latency_l2;        /* seconds from a load to its data */
  double latency_l1, latency_shared;      /* clocks */
  /* Clocks from an instruction to one that needs its result: of sums and logic, products of integers, comparisons, 16-bit floats,
     float64, special functions and conversions, shuffles, tensor cores, atomics on shared memory. */
  double latency_alu, latency_product, latency_predicate, latency_half, latency_fp64, latency_special, latency_shuffle, latency_tensor;
  double latency_atomic;
  double latency_barrier, barrier_warp;           /* clocks until warps go on behind a block's barrier, and for each warp there */
  double latency_cluster, latency_fence, fence_system, latency_branch;  /* until one goes on behind a barrier, a fence, a jump back */
  double heap_call, heap_lane, heap_next; /* seconds of a malloc or free; of one more lane's; from one to the next, anywhere */
  double print_call;              /* seconds of a warp's printf */
  double gap;                     /* clocks between two instructions of a warp that has the multiprocessor for itself */
  double issue;                   /* warp instructions per clock and multiprocessor */
  double shared_wave, l1_wave;    /* wavefronts per clock and multiprocessor */
  double atomic_same, atomic_integer;     /* clocks between atomics on one place of global memory; those of integers */
  double block_start;             /* clocks from the start of a block to that of the next, anywhere */
  double l2_share;                /* of L2, that data of one kind finds room in */
  double dirty;                   /* of L2, what is to be written back when a timed call begins */
  double merge;                   /* sectors' worth of DRAM for a line that is stored to late, in part */
  double partial;                 /* sectors' worth of L2 for one that is stored to in part */
  double latency_line;            /* clocks for each line that a load must fetch */
  double ramp;                    /* seconds in which memory comes up to speed */
  double sharpness;               /* of the maximum of the bounds: the p of a p-norm */
  double pipe_fp32, pipe_int, pipe_fp64, pipe_special, pipe_memory, pipe_control, pipe_tensor;
                                  /* warp instructions per clock and multiprocessor */
  double mma_share;               /* of the tensor rate, what mma.sync reaches */
  double library_gemm, library_conv, library_conv_tensor, library_conv_back;
                                  /* of the rate, what a library's product reaches; a convolution on the units of */
                                  /* float32, on tensor cores, and transposed */
} cawb_figures;

/* From an object with exactly these keys. CAWB_ERR_INVALID names the key that is missing,
** unknown or out of range. */
cawb_status cawb_figures_read(cawb_figures *out, const cJSON *json, cawb_err *err);

#endif
