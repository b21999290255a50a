/* device.c - opens a GPU through the driver API, describes it, closes it. */
#include "cuda/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/*
** Kernels of a plan need neither a heap nor printf. The driver rounds these up
** to the least that it supports.
*/
#define HEAP_BYTES 4096
#define PRINTF_BYTES 4096

/* ---- errors ---- */

/* Only an error that stays with the context is seen again by a later call. */
static void notice_loss(cawb_cuda *c) {
  if (c->context != NULL && c->cu.cuCtxSynchronize() != CUDA_SUCCESS) c->base.lost = 1;
}

cawb_status cawb_cuda_check(cawb_cuda *c, CUresult r, const char *what, cawb_err *err) {
  if (r == CUDA_SUCCESS) return CAWB_OK;
  notice_loss(c);
  return cawb_cuda_driver_fail(&c->cu, r, err,
    r == CUDA_ERROR_OUT_OF_MEMORY ? CAWB_ERR_MEMORY : CAWB_ERR_DEVICE,
    "%s: %s", c->base.info.name, what);
}

/* Failures of the machine, whatever was running on it. */
static int machine_failed(CUresult r) {
  switch (r) {
    case CUDA_ERROR_NOT_INITIALIZED: case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_DEVICE_UNAVAILABLE: case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_CONTEXT: case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ECC_UNCORRECTABLE: case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_OPERATING_SYSTEM: case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED: case CUDA_ERROR_UNKNOWN:
      return 1;
    default:
      return 0;
  }
}

/* The driver does not tell a write to what may only be read from one to nowhere. */
static const char *guess(const cawb_cuda *c, CUresult r) {
  if (r != CUDA_ERROR_ILLEGAL_ADDRESS) return "";
  return c->base.info.protects ? " reached outside its tensors or its stack, or wrote to an input or a parameter"
                               : " reached outside its tensors or its stack";
}

cawb_status cawb_cuda_blame(cawb_cuda *c, CUresult r, const char *who, cawb_err *err) {
  if (r == CUDA_SUCCESS) return CAWB_OK;
  notice_loss(c);
  return cawb_cuda_driver_fail(&c->cu, r, err,
    machine_failed(r) ? CAWB_ERR_DEVICE : CAWB_ERR_CANDIDATE, "%s%s", who, guess(c, r));
}

cawb_status cawb_cuda_enter(cawb_cuda *c, cawb_err *err) {
  if (c->base.lost)
    return cawb_fail(err, CAWB_ERR_DEVICE, "%s: lost to an earlier fault; start another "
                     "worker process", c->base.info.name);
  return cawb_cuda_check(c, c->cu.cuCtxSetCurrent(c->context), "context", err);
}

/* ---- description ---- */

static cawb_status attribute(cawb_cuda *c, CUdevice_attribute which, int *out,
                             cawb_err *err) {
  return cawb_cuda_check(c, c->cu.cuDeviceGetAttribute(out, which, c->device),
                         "reading its properties", err);
}

static cawb_status describe_limits(cawb_cuda *c, cawb_err *err) {
  cawb_device_info *info = &c->base.info;
  int sms = 0, l2 = 0, shared = 0, threads = 0, major = 0, minor = 0;
  const struct { CUdevice_attribute which; int *out; } wanted[] = {
    { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &sms },
    { CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2 },
    { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &shared },
    { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &threads },
    { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major },
    { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor },
    { CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &c->grid[0] },
    { CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &c->grid[1] },
    { CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &c->grid[2] },
    { CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &c->block[0] },
    { CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &c->block[1] },
    { CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &c->block[2] },
    { CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, &c->clusters },
    { CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, &c->persisting },
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    cawb_status s = attribute(c, wanted[i].which, wanted[i].out, err);
    if (s != CAWB_OK) return s;
  }
  c->dependents = major >= 9;
  info->sms = (unsigned)sms;
  info->l2 = (size_t)l2;
  info->shared_block = (size_t)shared;
  info->threads_block = (unsigned)threads;
  /* From 9.0 on some instructions, wgmma for one, exist in code for this very architecture only
  ** (PTX ISA, .target, the suffix a); what is compiled here runs on this GPU and nowhere else. */
  snprintf(info->arch, sizeof info->arch, "sm_%d%d%s", major, minor, major >= 9 ? "a" : "");
  return CAWB_OK;
}

/* The first word of a file that begins with a digit: "580.159.03". */
static int read_version(const char *path, char *out, size_t size) {
  char line[512] = "";
  FILE *f = fopen(path, "r");
  if (f == NULL) return 0;
  size_t got = fread(line, 1, sizeof line - 1, f);
  fclose(f);
  line[got] = '\0';
  char *save = NULL;
  for (char *w = strtok_r(line, " \t\n", &save); w != NULL; w = strtok_r(NULL, " \t\n", &save))
    if (*w >= '0' && *w <= '9') {
      snprintf(out, size, "%s", w);
      return 1;
    }
  return 0;
}

static cawb_status describe_driver(cawb_cuda *c, cawb_err *err) {
  char *out = c->base.info.driver;
  size_t size = sizeof c->base.info.driver;
  int v = 0;
  if (read_version("/sys/module/nvidia/version", out, size)) return CAWB_OK;
  if (read_version("/proc/driver/nvidia/version", out, size)) return CAWB_OK;
  cawb_status s = cawb_cuda_check(c, c->cu.cuDriverGetVersion(&v), "driver version", err);
  if (s == CAWB_OK) snprintf(out, size, "CUDA %d.%d", v / 1000, v % 1000 / 10);
  return s;
}

/* As nvidia-smi writes it: 16 bytes in groups of 4-2-2-2-6. */
static void spell_uuid(const CUuuid *id, char *out, size_t size) {
  size_t used = (size_t)snprintf(out, size, "GPU");
  for (int i = 0; i < 16 && used < size; i++) {
    int dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    used += (size_t)snprintf(out + used, size - used, dash ? "-%02x" : "%02x",
                             (unsigned)(unsigned char)id->bytes[i]);
  }
}

static cawb_status describe(cawb_cuda *c, cawb_err *err) {
  cawb_device_info *info = &c->base.info;
  CUuuid id = { { 0 } };
  cawb_status s = describe_limits(c, err);
  if (s == CAWB_OK)
    s = cawb_cuda_check(c, c->cu.cuDeviceGetName(info->model, (int)sizeof info->model,
                                                 c->device), "name", err);
  if (s == CAWB_OK)
    s = cawb_cuda_check(c, c->cu.cuDeviceGetUuid(&id, c->device), "uuid", err);
  if (s == CAWB_OK)
    s = cawb_cuda_check(c, c->cu.cuDeviceTotalMem(&info->memory, c->device), "memory", err);
  if (s == CAWB_OK) s = describe_driver(c, err);
  spell_uuid(&id, info->uuid, sizeof info->uuid);
  return s;
}

/* ---- opening ---- */

static cawb_status parse_number(const char *which, int *out, cawb_err *err) {
  char *end = NULL;
  errno = 0;
  long v = which[0] >= '0' && which[0] <= '9' ? strtol(which, &end, 10) : -1;
  if (v < 0 || v > 1023 || errno != 0 || *end != '\0')
    return cawb_fail(err, CAWB_ERR_INVALID,
                     "cuda:%s: '%s' is not the number of a GPU (use cuda:0, cuda:1, ...)",
                     which, which);
  *out = (int)v;
  return CAWB_OK;
}

static cawb_status find_device(cawb_cuda *c, int number, cawb_err *err) {
  int count = 0;
  cawb_status s = cawb_cuda_check(c, c->cu.cuDeviceGetCount(&count), "counting GPUs", err);
  if (s != CAWB_OK) return s;
  if (number >= count)
    return cawb_fail(err, CAWB_ERR_MISSING, "%s: this machine has %d GPU%s (the last is "
                     "cuda:%d)", c->base.info.name, count, count == 1 ? "" : "s", count - 1);
  return cawb_cuda_check(c, c->cu.cuDeviceGet(&c->device, number), "opening", err);
}

/* What the hardware has no such limit for stays as it is. */
static cawb_status set_limit(cawb_cuda *c, CUlimit limit, size_t value, cawb_err *err) {
  CUresult r = c->cu.cuCtxSetLimit(limit, value);
  if (r == CUDA_ERROR_UNSUPPORTED_LIMIT) return CAWB_OK;
  return cawb_cuda_check(c, r, "setting its limits", err);
}

static cawb_status set_limits(cawb_cuda *c, cawb_err *err) {
  cawb_status s = set_limit(c, CU_LIMIT_MALLOC_HEAP_SIZE, HEAP_BYTES, err);
  if (s == CAWB_OK) s = set_limit(c, CU_LIMIT_PRINTF_FIFO_SIZE, PRINTF_BYTES, err);
  if (s == CAWB_OK && c->persisting)
    s = set_limit(c, CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0, err);
  return s;
}

static cawb_status make_context(cawb_cuda *c, cawb_err *err) {
  cawb_cuda_driver *cu = &c->cu;
  CUcontext context = NULL;
  cawb_status s = cawb_cuda_check(c, cu->cuDevicePrimaryCtxRetain(&context, c->device),
                                  "making a context (is another program using the GPU "
                                  "alone? see nvidia-smi)", err);
  if (s != CAWB_OK) return s;
  c->context = context;        /* from here on close_cuda releases it */
  s = cawb_cuda_enter(c, err);
  if (s == CAWB_OK) s = set_limits(c, err);
  if (s == CAWB_OK)
    s = cawb_cuda_check(c, cu->cuStreamCreate(&c->stream, CU_STREAM_NON_BLOCKING),
                        "making a stream", err);
  if (s == CAWB_OK)
    s = cawb_cuda_check(c, cu->cuEventCreate(&c->start, CU_EVENT_DEFAULT), "event", err);
  if (s == CAWB_OK)
    s = cawb_cuda_check(c, cu->cuEventCreate(&c->stop, CU_EVENT_DEFAULT), "event", err);
  return s;
}

/* Also takes apart what cawb_cuda_open left half made. */
static void close_cuda(cawb_device *d) {
  cawb_cuda *c = (cawb_cuda *)d;
  cawb_cuda_driver *cu = &c->cu;
  if (c->context != NULL) {
    cu->cuCtxSetCurrent(c->context);
    cawb_cuda_release_profiler(c);
    cawb_cuda_release_libraries(c);
    cawb_cuda_release_clock(c);
    cawb_cuda_release_modules(c);
    cawb_cuda_release_memory(c);
    if (c->stop != NULL) cu->cuEventDestroy(c->stop);
    if (c->start != NULL) cu->cuEventDestroy(c->start);
    if (c->stream != NULL) cu->cuStreamDestroy(c->stream);
    cu->cuCtxSetCurrent(NULL);
    cu->cuDevicePrimaryCtxRelease(c->device);
  }
  cawb_cuda_driver_close(cu);
  free(c);
}

static const cawb_device_ops ops = {
  .close = close_cuda,
  .alloc = cawb_cuda_alloc, .free = cawb_cuda_free, .protect = cawb_cuda_protect,
  .write = cawb_cuda_write, .read = cawb_cuda_read,
  .copy = cawb_cuda_copy, .fill = cawb_cuda_fill,
  .attach = cawb_cuda_attach, .detach = cawb_cuda_detach,
  .load = cawb_cuda_load, .unload = cawb_cuda_unload, .choose = cawb_cuda_choose,
  .run = cawb_cuda_run, .time = cawb_cuda_time, .profile = cawb_cuda_profile,
  .changed = cawb_cuda_globals_changed
};

static cawb_status draw_secret(cawb_cuda *c, cawb_err *err) {
  if (getrandom(&c->secret, sizeof c->secret, 0) == (ssize_t)sizeof c->secret) return CAWB_OK;
  return cawb_fail_errno(err, CAWB_ERR_IO, "%s: no random numbers", c->base.info.name);
}

cawb_status cawb_cuda_open(cawb_device **out, const char *which, const char *library,
                           cawb_err *err) {
  int number = 0;
  *out = NULL;
  cawb_status s = parse_number(which, &number, err);
  if (s != CAWB_OK) return s;
  cawb_cuda *c = calloc(1, sizeof *c);
  if (c == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "cuda:%s: out of memory", which);
  c->base.ops = &ops;
  snprintf(c->base.info.name, sizeof c->base.info.name, "cuda:%d", number);
  s = cawb_cuda_driver_open(&c->cu, library, c->base.info.name, err);
  if (s == CAWB_OK) s = draw_secret(c, err);
  if (s == CAWB_OK) s = find_device(c, number, err);
  if (s == CAWB_OK) s = describe(c, err);
  if (s == CAWB_OK) s = make_context(c, err);
  if (s == CAWB_OK) s = cawb_cuda_map_open(c, err);
  if (s == CAWB_OK) *out = &c->base;
  else close_cuda(&c->base);
  return s;
}

cawb_status cawb_device_open_cuda(cawb_device **out, const char *which, cawb_err *err) {
  return cawb_cuda_open(out, which, NULL, err);
}
