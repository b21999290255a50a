/* launch.c - see launch.h. */
#include "sim/cudart/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cudart/modules.h"
#include "sim/cudart/note.h"
#include "sim/cudart/streams.h"

enum { GRID_X = 2147483647, GRID_YZ = 65535, BLOCK_Z = 64 };

/* As the runtime refuses it, before anything is executed. */
static int shape_is_wrong(const cawb_cuda_launch *l, unsigned threads_most) {
  const cawb_dim3 g = l->grid, b = l->block;
  if (g.x == 0 || g.y == 0 || g.z == 0 || b.x == 0 || b.y == 0 || b.z == 0) return 1;
  if (g.x > GRID_X || g.y > GRID_YZ || g.z > GRID_YZ || b.z > BLOCK_Z) return 1;
  return b.x > threads_most || b.y > threads_most || (size_t)b.x * b.y * b.z > threads_most;
}

static int refuse_shape(cawb_cudart *rt, const cawb_cuda_kernel *k, const cawb_cuda_launch *l) {
  char text[320];
  snprintf(text, sizeof text, "%s: cannot be launched with a grid of (%u,%u,%u) and blocks of (%u,%u,%u): a grid has 1 to "
           "%d, %d, %d blocks, a block 1 to %u threads, at most %d in z", k->plain, l->grid.x, l->grid.y, l->grid.z,
           l->block.x, l->block.y, l->block.z, GRID_X, GRID_YZ, GRID_YZ, cawb_device_about(rt->device)->threads_block, BLOCK_Z);
  cawb_note_found(rt, "launch", text, "");
  return CAWB_CUDA_CONFIGURATION;
}

/* A GPU gives a block 48 KiB of shared memory, and more only where cudaFuncSetAttribute has asked for it. */
static int refuse_shared(cawb_cudart *rt, const cawb_cuda_kernel *k, size_t shared) {
  enum { WITHOUT_ASKING = 48 << 10 };
  char text[320];
  size_t most = k->shared_most > WITHOUT_ASKING ? k->shared_most : WITHOUT_ASKING;
  if (shared <= most) return CAWB_CUDA_OK;
  snprintf(text, sizeof text, "%s: %zu bytes of dynamic shared memory, %zu are allowed: ask for more with cudaFuncSetAttribute("
           "kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)", k->plain, shared, most);
  cawb_note_found(rt, "launch", text, "");
  return CAWB_CUDA_VALUE;
}

static cawb_step step_of(const cawb_cuda_kernel *k, const cawb_cuda_launch *l, const unsigned char *block) {
  return (cawb_step){ .kind = CAWB_STEP_LAUNCH, .kernel = k->name, .grid = { l->grid.x, l->grid.y, l->grid.z },
    .block = { l->block.x, l->block.y, l->block.z }, .cluster = { l->cluster.x, l->cluster.y, l->cluster.z },
    .shared = l->shared, .cooperative = l->cooperative, .args = block, .args_size = k->parameters->args_size };
}

static void add_bound(cawb_report *sum, const cawb_report *r) {
  sum->bound.memory += r->bound.memory;
  sum->bound.l2 += r->bound.l2;
  sum->bound.l1 += r->bound.l1;
  sum->bound.shared += r->bound.shared;
  sum->bound.issue += r->bound.issue;
  sum->bound.latency += r->bound.latency;
  sum->bound.blocks += r->bound.blocks;
  sum->bound.launch += r->bound.launch;
}

static void add(cawb_report *sum, const cawb_report *r) {
  sum->seconds += r->seconds;
  sum->warp_instructions += r->warp_instructions;
  sum->global_requests += r->global_requests;
  sum->global_sectors += r->global_sectors;
  sum->shared_requests += r->shared_requests;
  sum->shared_wavefronts += r->shared_wavefronts;
  sum->branches += r->branches;
  sum->divergent_branches += r->divergent_branches;
  sum->dram_bytes += r->dram_bytes;
  sum->races += r->races;
  add_bound(sum, r);
}

/* What the device does not know is no mistake of the program; a fault is, and ends its use of the device. */
static int end_badly(cawb_cudart *rt, const cawb_cuda_kernel *k, const cawb_err *err) {
  if (err->code == CAWB_ERR_UNSUPPORTED) {
    cawb_note_stop(rt, "code", err->msg);
    return CAWB_CUDA_UNSUPPORTED;
  }
  int error = cawb_errors_fault(err->msg);
  int fault = error != CAWB_CUDA_VALUE && error != CAWB_CUDA_RESOURCES && error != CAWB_CUDA_COOPERATIVE;
  cawb_note_found(rt, fault ? "fault" : "launch", err->msg, k->source);
  if (fault) rt->broken = error;
  return fault ? CAWB_CUDA_OK : error;          /* a fault shows at the next call, as launches do not wait */
}

/* By how the simulator's words begin. */
static const char *kind_of(const char *text) {
  return strncmp(text, "uninitialised", 13) == 0 ? "unwritten" : strncmp(text, "misused", 7) == 0 ? "barrier" : "race";
}

static int execute(cawb_cudart *rt, cawb_cuda_module *m, cawb_cuda_kernel *k, const cawb_cuda_launch *l,
                   const unsigned char *block, cawb_cuda_stream *stream) {
  cawb_step step = step_of(k, l, block);
  step.dependent = l->dependent && stream->launched;
  cawb_report report;
  cawb_err err;
  cawb_status status = cawb_device_run(rt->device, m->loaded, &step, 1, &report, &err);
  if (report.races > 0) cawb_note_found(rt, kind_of(report.race), report.race, k->source);
  k->launches++;
  add(&k->sum, &report);
  cawb_streams_work(rt, stream, CAWB_ENGINE_KERNELS, report.seconds);
  stream->launched = 1;
  return status == CAWB_OK ? CAWB_CUDA_OK : end_badly(rt, k, &err);
}

/* Each parameter to its place. */
static unsigned char *pack(const cawb_kernel *parameters, void **arguments) {
  unsigned char *block = calloc(1, parameters->args_size + 1);
  for (size_t i = 0; block != NULL && i < parameters->nparams; i++)
    memcpy(block + parameters->params[i].offset, arguments[i], parameters->params[i].size);
  return block;
}

int cawb_launch(cawb_cudart *rt, const void *handle, const cawb_cuda_launch *how, void **arguments) {
  cawb_cuda_module *m;
  cawb_cuda_kernel *k;
  cawb_cuda_stream *stream = cawb_streams_find(rt, how->stream);
  int error = cawb_cudart_ready(rt);
  if (error == CAWB_CUDA_OK) error = stream != NULL ? cawb_modules_kernel(rt, handle, &m, &k) : CAWB_CUDA_HANDLE;
  if (error != CAWB_CUDA_OK) return error;
  if (shape_is_wrong(how, cawb_device_about(rt->device)->threads_block)) return refuse_shape(rt, k, how);
  error = refuse_shared(rt, k, how->shared);
  if (error != CAWB_CUDA_OK) return error;
  unsigned char *block = pack(k->parameters, arguments);
  if (block == NULL) return CAWB_CUDA_MEMORY;
  error = execute(rt, m, k, how, block, stream);
  free(block);
  return error;
}
