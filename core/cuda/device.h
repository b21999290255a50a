/*
** device.h - the GPU behind cawb_device, for its own files only: one noun
** a file. device.c opens it, _memory holds its buffers, _map places them, _guard watches
** their bounds, _module loads code, _globals puts its variables back, _launch starts it,
** _library calls NVIDIA's, _time takes samples, _clock tells how fast it was then, _profile tells what is known
** of launches, _count counts them, _events times them, _sample looks at their lines. All work goes through one stream, and every operation waits for its end before it
** returns.
*/
#ifndef CAWB_CUDA_DEVICE_H
#define CAWB_CUDA_DEVICE_H

#include "cuda/driver.h"
#include "cuda/open.h"
#include "cuda/cupti/cupti.h"
#include "gpu/device/device.h"

#define CAWB_CUDA_GUARD 4096u  /* bytes before and behind each buffer */

typedef struct cawb_cuda_region {
  struct cawb_cuda_region *next;
  cawb_addr addr;              /* what the user sees, `size` bytes of it */
  size_t size, total;          /* total: with both guards; 0 for attached memory */
  CUdeviceptr base;            /* of the range that it lies in, and */
  size_t mapped;               /*   how much memory is there, see _map; 0: plainly allocated */
  CUmemGenericAllocationHandle memory;
  int sealed;                  /* 1: kernels cannot write to it */
  uint64_t seed;               /* of the guards' bytes */
  char label[64];
} cawb_cuda_region;

typedef struct cawb_cuda_function {
  char *name;                  /* owned */
  CUfunction handle;
  int threads;                 /* most threads a block of it may have */
  int registers;               /* per thread */
  int shared;                  /* static shared memory, bytes */
  int dynamic;                 /* dynamic shared memory it is readied for, bytes */
} cawb_cuda_function;

typedef struct cawb_cuda_global {
  CUdeviceptr at, copy;        /* where it is, and what it held when it was loaded */
  size_t size;
  char name[48];               /* cut */
} cawb_cuda_global;

struct cawb_module {
  cawb_module *next;
  CUmodule handle;
  cawb_cuda_global *globals;   /* its __device__ variables */
  size_t nglobals;
  cawb_cuda_function *list;    /* the kernels used so far */
  size_t count;
};

typedef struct cawb_cuda_profiler cawb_cuda_profiler;   /* see count.c */
typedef struct cawb_cuda_libraries cawb_cuda_libraries; /* see library.c */

typedef struct cawb_cuda {
  cawb_device base;            /* first: a cawb_device * is a cawb_cuda * */
  cawb_cuda_driver cu;
  CUdevice device;
  CUcontext context;           /* the primary one, retained */
  CUstream stream;
  CUevent start, stop;
  int grid[3], block[3];       /* the largest launch */
  int clusters, persisting;    /* 1: has thread block clusters, a persisting L2 */
  int dependents;              /* 1: a kernel may begin while the one before it ends */
  size_t granule;              /* of mappings, bytes; 0: this GPU cannot map */
  cawb_cuda_region *regions;   /* memory allocated or attached */
  cawb_module *modules;
  uint64_t secret;             /* behind the bytes of the guards */
  void *staging;               /* pinned, for reading guards; grows */
  size_t staging_size;
  CUdeviceptr flush;           /* written to empty L2; made by the first timing */
  size_t flush_size;
  cawb_cuda_profiler *profiler;  /* made by the first profile */
  cawb_cuda_libraries *libraries;  /* made by the first library call */
  CUmodule clock_module;       /* reads the SM clock; made by the first timing, as are */
  CUfunction clock_kernel;
  CUdeviceptr clock_at;        /*   two readings of each SM, */
  void *clock_host;            /*   and where they are read back to, pinned */
  uint64_t clock_since;        /* the latest of them that was looked at, ns */
  double highest_clock;        /* seen so far, Hz */
} cawb_cuda;

/* cawb_device_open_cuda with the driver's library named; NULL searches for it. */
cawb_status cawb_cuda_open(cawb_device **out, const char *which, const char *library,
                           cawb_err *err);

/* Begin an operation: refuse on a lost device, make its context current. */
cawb_status cawb_cuda_enter(cawb_cuda *c, cawb_err *err);

/* A driver call that no candidate is to blame for: `what` was being done. */
cawb_status cawb_cuda_check(cawb_cuda *c, CUresult r, const char *what, cawb_err *err);

/* A driver call while `who` (a kernel) ran. Both mark the device lost if it is. */
cawb_status cawb_cuda_blame(cawb_cuda *c, CUresult r, const char *who, cawb_err *err);

/* ---- memory ---- */
cawb_status cawb_cuda_alloc(cawb_device *, size_t, const char *, cawb_addr *, cawb_err *);
void        cawb_cuda_free(cawb_device *, cawb_addr);
cawb_status cawb_cuda_write(cawb_device *, cawb_addr, const void *, size_t, cawb_err *);
cawb_status cawb_cuda_read(cawb_device *, void *, cawb_addr, size_t, cawb_err *);
cawb_status cawb_cuda_copy(cawb_device *, cawb_addr, cawb_addr, size_t, cawb_err *);
cawb_status cawb_cuda_fill(cawb_device *, cawb_addr, uint32_t, size_t, cawb_err *);
cawb_status cawb_cuda_attach(cawb_device *, const cawb_share *, cawb_addr *, cawb_err *);
void        cawb_cuda_detach(cawb_device *, cawb_addr);
cawb_status cawb_cuda_protect(cawb_device *, cawb_addr, cawb_err *);
void        cawb_cuda_release_memory(cawb_cuda *c);

/* 1 if [a, a + size) lies within one buffer. */
int         cawb_cuda_owns(const cawb_cuda *c, cawb_addr a, size_t size);

/* ---- mapping ---- */
cawb_status cawb_cuda_map_open(cawb_cuda *c, cawb_err *err);

/* `total` bytes for a region; fills in base, addr, mapped, memory. */
CUresult    cawb_cuda_map_make(cawb_cuda *c, cawb_cuda_region *g);
void        cawb_cuda_map_free(cawb_cuda *c, const cawb_cuda_region *g);

/* Of a mapped region: whether it may be written to, by anyone. */
CUresult    cawb_cuda_map_allow(cawb_cuda *c, const cawb_cuda_region *g, int writing);

/* ---- guards ---- */
void        cawb_cuda_guard_layout(cawb_cuda *c, cawb_cuda_region *r);  /* size to total */
CUresult    cawb_cuda_guard_write(cawb_cuda *c, const cawb_cuda_region *r);

/* CAWB_ERR_CANDIDATE if the bytes around a buffer changed; they are restored. */
cawb_status cawb_cuda_guard_check(cawb_cuda *c, const char *who, cawb_err *err);

/* ---- modules ---- */
cawb_status cawb_cuda_load(cawb_device *, const cawb_image *, cawb_module **, cawb_err *);
void        cawb_cuda_unload(cawb_device *, cawb_module *);
void        cawb_cuda_release_modules(cawb_cuda *c);

/* Its __device__ variables: found in `ptx` and copied; put back, on the stream. */
cawb_status cawb_cuda_globals_keep(cawb_cuda *c, cawb_module *m, const char *ptx, cawb_err *err);
CUresult    cawb_cuda_globals_restore(cawb_cuda *c, const cawb_module *m);
cawb_status cawb_cuda_globals_changed(cawb_device *d, cawb_module *m, char *names, size_t room, cawb_err *err);
void        cawb_cuda_globals_free(cawb_cuda *c, cawb_module *m);

/* A kernel by name, borrowed until the next call; CAWB_ERR_CANDIDATE if absent. */
cawb_status cawb_cuda_function_get(cawb_cuda *c, cawb_module *m, const char *name,
                                   cawb_cuda_function **out, cawb_err *err);

/* ---- launch ---- */
cawb_status cawb_cuda_run(cawb_device *, cawb_module *, const cawb_step *, size_t,
                          cawb_report *, cawb_err *);

/* Refuse, with the numbers, what could not be launched; readies the kernels. */
cawb_status cawb_cuda_prepare(cawb_cuda *c, cawb_module *m, const cawb_step *steps,
                              size_t n, cawb_err *err);

/* Put one prepared step on the stream. Blames nobody: the stream may be capturing. */
CUresult    cawb_cuda_enqueue(cawb_cuda *c, cawb_module *m, const cawb_step *step);

int         cawb_cuda_is_library(const cawb_step *step);   /* gemm or conv */

/* The step in messages: its kernel, "memset", "gemm" or "conv". */
const char *cawb_cuda_step_name(const cawb_step *step);
const char *cawb_cuda_plan_name(const cawb_step *steps, size_t n);

/* ---- library calls ---- */

/* Ready a call as it was chosen, or else as the heuristics have it. */
cawb_status cawb_cuda_library_prepare(cawb_cuda *c, const cawb_step *step, cawb_err *err);
CUresult    cawb_cuda_library_enqueue(cawb_cuda *c, const cawb_step *step);
cawb_status cawb_cuda_choose(cawb_device *, const cawb_step *, size_t, const char *, cawb_choice *,
                             cawb_err *);
void        cawb_cuda_release_libraries(cawb_cuda *c);

/* ---- time ---- */
cawb_status cawb_cuda_time(cawb_device *, cawb_module *, const cawb_step *, size_t,
                           cawb_timing *, cawb_err *);

/* Of n > 0 values, which it sorts. */
double      cawb_cuda_median(double *values, size_t n);

/* ---- the SM clock ---- */
cawb_status cawb_cuda_clock_make(cawb_cuda *c, cawb_err *err);   /* made is a no-op */
CUresult    cawb_cuda_clock_read(cawb_cuda *c, int which);       /* 0: ahead, 1: behind; queued */

/* Hz between the two readings, which are done when this returns; 0 where they tell nothing. */
CUresult    cawb_cuda_clock_get(cawb_cuda *c, double *hz);
void        cawb_cuda_release_clock(cawb_cuda *c);

/* ---- profile ---- */
typedef struct cawb_cuda_job {       /* what is looked at */
  cawb_module *m;
  const cawb_step *steps;
  size_t n, launches;
  const char *who;                   /* whom to blame */
  cawb_profile *p;
} cawb_cuda_job;

cawb_status cawb_cuda_profile(cawb_device *, cawb_module *, const cawb_step *, size_t,
                              const char *const *, size_t, cawb_profile *, cawb_err *);

/* Put back what the run before changed, and wait. */
CUresult    cawb_cuda_reset(cawb_cuda *c, const cawb_cuda_job *j);

/* Put steps on the stream; wait for its end, and let the first failure stand. */
CUresult    cawb_cuda_enqueue_all(cawb_cuda *c, cawb_module *m, const cawb_step *steps, size_t n);
CUresult    cawb_cuda_wait_after(cawb_cuda *c, CUresult r);

/*
** Add the counts of all launches. A failure that leaves the machine without counters
** is no CAWB_ERR_CANDIDATE or CAWB_ERR_DEVICE.
*/
cawb_status cawb_cuda_count(cawb_cuda *c, const cawb_cuda_job *j, const char *const *metrics,
                            size_t n, cawb_err *err);
void        cawb_cuda_release_profiler(cawb_cuda *c);

/* Add the time of each launch, a median in seconds: what is told where nothing is counted. */
cawb_status cawb_cuda_time_launches(cawb_cuda *c, const cawb_cuda_job *j, cawb_err *err);

/* CUPTI, with the counters given back. */
cawb_status cawb_cuda_cupti(cawb_cuda *c, const char *site_packages, cawb_cupti **out,
                            cawb_err *err);

/* Fill in p->sampling; failures as of cawb_cuda_count. */
cawb_status cawb_cuda_sample(cawb_cuda *c, const cawb_cuda_job *j, cawb_err *err);

#endif
