/*
** launch.c - checks the steps of a plan against the limits of the GPU
** and of each kernel, and puts them on the stream.
*/
#include "cuda/device.h"

#include <string.h>

#define PORTABLE_CLUSTER 8     /* blocks; more need a kernel's consent, CUDA guide */

const char *cawb_cuda_step_name(const cawb_step *step) {
  switch (step->kind) {
    case CAWB_STEP_LAUNCH: return step->kernel;
    case CAWB_STEP_FILL: return "memset";
    case CAWB_STEP_GEMM: return "gemm";
    case CAWB_STEP_CONV: return "conv";
  }
  return "?";
}

int cawb_cuda_is_library(const cawb_step *step) {
  return step->kind == CAWB_STEP_GEMM || step->kind == CAWB_STEP_CONV;
}

const char *cawb_cuda_plan_name(const cawb_step *steps, size_t n) {
  return n == 1 ? cawb_cuda_step_name(steps) : "a kernel of the plan";
}

/* ---- checks ---- */

static uint64_t volume(const unsigned v[3]) { return (uint64_t)v[0] * v[1] * v[2]; }

static cawb_status check_extent(const char *kernel, const char *what, const unsigned v[3],
                                const int most[3], cawb_err *err) {
  if (v[0] == 0 || v[1] == 0 || v[2] == 0)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: %s %ux%ux%u has a zero; each side must be "
                     "at least 1", kernel, what, v[0], v[1], v[2]);
  for (int i = 0; i < 3; i++)
    if (v[i] > (unsigned)most[i])
      return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: %s %ux%ux%u is too large; at most "
                       "%dx%dx%d here", kernel, what, v[0], v[1], v[2],
                       most[0], most[1], most[2]);
  return CAWB_OK;
}

static cawb_status check_threads(const cawb_cuda *c, const cawb_step *s,
                                 const cawb_cuda_function *f, cawb_err *err) {
  uint64_t threads = volume(s->block);
  if (threads > c->base.info.threads_block)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: block %ux%ux%u has %llu threads; at most "
                     "%u here", s->kernel, s->block[0], s->block[1], s->block[2],
                     (unsigned long long)threads, c->base.info.threads_block);
  if (threads > (unsigned)f->threads)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: a block of %llu threads is too large for "
                     "this kernel: at most %d with its %d registers a thread and its "
                     "__launch_bounds__", s->kernel, (unsigned long long)threads, f->threads,
                     f->registers);
  return CAWB_OK;
}

static cawb_status check_shared(const cawb_cuda *c, const cawb_step *s,
                                const cawb_cuda_function *f, cawb_err *err) {
  size_t fixed = (size_t)f->shared, most = c->base.info.shared_block;
  if (s->shared <= most && s->shared + fixed <= most) return CAWB_OK;
  return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: shared memory of %zu bytes (%zu dynamic, %zu "
                   "static) is too much; a block may have %zu here", s->kernel,
                   s->shared + fixed, s->shared, fixed, most);
}

/* A plan that says nothing of clusters may leave them at 0. */
static int has_cluster(const cawb_step *s) { return volume(s->cluster) > 1; }

static cawb_status check_cluster(const cawb_cuda *c, const cawb_step *s, cawb_err *err) {
  const unsigned *k = s->cluster, *g = s->grid;
  if (k[0] == 0 && k[1] == 0 && k[2] == 0) return CAWB_OK;
  if (volume(k) == 0)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: cluster %ux%ux%u has a zero; each side "
                     "must be at least 1", s->kernel, k[0], k[1], k[2]);
  if (volume(k) == 1) return CAWB_OK;
  if (!c->clusters)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: cluster %ux%ux%u: this GPU (%s) has no "
                     "clusters; leave it at 1", s->kernel, k[0], k[1], k[2],
                     c->base.info.arch);
  if (g[0] % k[0] != 0 || g[1] % k[1] != 0 || g[2] % k[2] != 0)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: grid %ux%ux%u is no multiple of its "
                     "cluster %ux%ux%u", s->kernel, g[0], g[1], g[2], k[0], k[1], k[2]);
  return CAWB_OK;
}

static cawb_status check_fill(const cawb_cuda *c, const cawb_step *s, cawb_err *err) {
  if (s->size % 4 != 0 || s->addr % 4 != 0)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "memset: %zu bytes at 0x%llx are not whole "
                     "words of 4 bytes", s->size, (unsigned long long)s->addr);
  if (!cawb_cuda_owns(c, s->addr, s->size))
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "memset: %zu bytes at 0x%llx lie in no one "
                     "buffer of the plan", s->size, (unsigned long long)s->addr);
  return CAWB_OK;
}

/* ---- readying a kernel ---- */

/* More than the default of 48 KiB is to be asked for, kernel by kernel. */
static cawb_status allow_shared(cawb_cuda *c, const cawb_step *s, cawb_cuda_function *f,
                                cawb_err *err) {
  if (s->shared <= (size_t)f->dynamic) return CAWB_OK;
  CUresult r = c->cu.cuFuncSetAttribute(
    f->handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)s->shared);
  if (r == CUDA_SUCCESS) f->dynamic = (int)s->shared;
  return cawb_cuda_blame(c, r, s->kernel, err);
}

static cawb_status allow_cluster(cawb_cuda *c, const cawb_step *s,
                                 const cawb_cuda_function *f, cawb_err *err) {
  if (volume(s->cluster) <= PORTABLE_CLUSTER) return CAWB_OK;
  return cawb_cuda_blame(c, c->cu.cuFuncSetAttribute(
    f->handle, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1), s->kernel, err);
}

static cawb_status prepare_launch(cawb_cuda *c, cawb_module *m, const cawb_step *step,
                                  cawb_err *err) {
  cawb_cuda_function *f = NULL;
  cawb_status s = cawb_cuda_function_get(c, m, step->kernel, &f, err);
  if (s == CAWB_OK) s = check_extent(step->kernel, "grid", step->grid, c->grid, err);
  if (s == CAWB_OK) s = check_extent(step->kernel, "block", step->block, c->block, err);
  if (s == CAWB_OK) s = check_threads(c, step, f, err);
  if (s == CAWB_OK) s = check_shared(c, step, f, err);
  if (s == CAWB_OK) s = check_cluster(c, step, err);
  if (s == CAWB_OK) s = allow_shared(c, step, f, err);
  if (s == CAWB_OK) s = allow_cluster(c, step, f, err);
  return s;
}

cawb_status cawb_cuda_prepare(cawb_cuda *c, cawb_module *m, const cawb_step *steps,
                              size_t n, cawb_err *err) {
  for (size_t i = 0; i < n; i++) {
    cawb_status s = steps[i].kind == CAWB_STEP_LAUNCH ? prepare_launch(c, m, &steps[i], err)
                  : steps[i].kind == CAWB_STEP_FILL ? check_fill(c, &steps[i], err)
                  : cawb_cuda_library_prepare(c, &steps[i], err);
    if (s != CAWB_OK) return s;
  }
  return CAWB_OK;
}

/* ---- starting ---- */

static CUresult launch(cawb_cuda *c, const cawb_step *s, const cawb_cuda_function *f) {
  CUlaunchAttribute attrs[3];
  unsigned n = 0;
  memset(attrs, 0, sizeof attrs);
  if (has_cluster(s)) {
    attrs[n].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attrs[n].value.clusterDim.x = s->cluster[0];
    attrs[n].value.clusterDim.y = s->cluster[1];
    attrs[n++].value.clusterDim.z = s->cluster[2];
  }
  if (s->cooperative) {
    attrs[n].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attrs[n++].value.cooperative = 1;
  }
  if (s->dependent && c->dependents) {           /* captured, it becomes a programmatic edge of the graph */
    attrs[n].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attrs[n++].value.programmaticStreamSerializationAllowed = 1;
  }
  CUlaunchConfig config = {
    .gridDimX = s->grid[0], .gridDimY = s->grid[1], .gridDimZ = s->grid[2],
    .blockDimX = s->block[0], .blockDimY = s->block[1], .blockDimZ = s->block[2],
    .sharedMemBytes = (unsigned)s->shared, .hStream = c->stream,
    .attrs = n > 0 ? attrs : NULL, .numAttrs = n
  };
  size_t size = s->args_size;
  void *extra[] = {
    CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)s->args,   /* read only: copied at the launch */
    CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END
  };
  return c->cu.cuLaunchKernelEx(&config, f->handle, NULL, size != 0 ? extra : NULL);
}

CUresult cawb_cuda_enqueue(cawb_cuda *c, cawb_module *m, const cawb_step *step) {
  if (step->kind == CAWB_STEP_FILL)
    return step->size == 0 ? CUDA_SUCCESS
      : c->cu.cuMemsetD32Async(step->addr, step->pattern, step->size / 4, c->stream);
  if (cawb_cuda_is_library(step)) return cawb_cuda_library_enqueue(c, step);
  cawb_cuda_function *f = NULL;
  if (cawb_cuda_function_get(c, m, step->kernel, &f, NULL) != CAWB_OK)
    return CUDA_ERROR_NOT_FOUND;
  return launch(c, step, f);
}

/* Waits after each step, so that a fault is laid at the right kernel's door. */
static cawb_status execute(cawb_cuda *c, cawb_module *m, const cawb_step *steps, size_t n,
                           cawb_err *err) {
  for (size_t i = 0; i < n; i++) {
    CUresult r = cawb_cuda_enqueue(c, m, &steps[i]);
    if (r == CUDA_SUCCESS) r = c->cu.cuStreamSynchronize(c->stream);
    if (r != CUDA_SUCCESS) return cawb_cuda_blame(c, r, cawb_cuda_step_name(&steps[i]), err);
  }
  return CAWB_OK;
}

cawb_status cawb_cuda_run(cawb_device *d, cawb_module *m, const cawb_step *steps, size_t n,
                          cawb_report *report, cawb_err *err) {
  cawb_cuda *c = (cawb_cuda *)d;
  report->counted = 0;
  cawb_status s = cawb_cuda_enter(c, err);
  if (s == CAWB_OK) s = cawb_cuda_prepare(c, m, steps, n, err);
  if (s == CAWB_OK)
    s = cawb_cuda_check(c, cawb_cuda_globals_restore(c, m), "restoring __device__ variables", err);
  if (s == CAWB_OK) s = execute(c, m, steps, n, err);
  if (s == CAWB_OK) s = cawb_cuda_guard_check(c, cawb_cuda_plan_name(steps, n), err);
  return s;
}
