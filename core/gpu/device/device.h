/*
** device.h - where kernels run: one contract, two implementations.
**
** cuda/device.c drives a GPU through the driver API; sim/ executes the PTX on
** the CPU and models the time. A device is opened and used by one thread of
** the worker process, never by the judge. Times are in seconds, sizes in bytes.
*/
#ifndef CAWB_DEVICE_DEVICE_H
#define CAWB_DEVICE_DEVICE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "gpu/device/figures.h"
#include "gpu/device/library.h"
#include "gpu/device/lines.h"

typedef uint64_t cawb_addr;                  /* an address on the device; 0 is none */
typedef struct cawb_device cawb_device;      /* opaque to users; see the end */
typedef struct cawb_module cawb_module;      /* loaded code, owned by its device */

/* What a device is. `rates` are published figures where `modelled` is set. */
typedef struct cawb_device_info {
  char name[256];              /* "cuda:0", "sim:h100" */
  char model[96];              /* "NVIDIA H100 80GB HBM3" */
  char arch[16];               /* what to compile for: "sm_90", "sm_90a" */
  char driver[32];             /* driver version, "" where there is none */
  char uuid[48];               /* the GPU's own, "" where there is none */
  int modelled;                /* 1: times are computed, not measured */
  unsigned sms;                /* multiprocessors */
  size_t memory, l2;           /* bytes of device memory, of L2 cache */
  size_t shared_block;         /* most shared memory one block may ask for */
  unsigned threads_block;      /* most threads in a block */
  int protects;                /* 1: cawb_device_protect keeps kernels from writing */
  struct {
    double clock;              /* SM clock, Hz */
    double dram, l2;           /* bytes per second that streams reach */
    double fp32;               /* float32 operations per second, no tensor cores */
    double tf32, bf16, fp16;   /* of the tensor cores, dense, accumulating in float32 */
    double launch;             /* seconds to start one kernel from a graph */
    double cache, dirty;       /* bytes of L2; the share of it that a timed call finds dirty */
    double sharpness;          /* of the maximum of the bounds of a time: the p of a p-norm */
  } rates;                     /* all 0 on a real device: those are measured */
} cawb_device_info;

/* Code for a device. Both texts are borrowed for the length of the call. */
typedef struct cawb_image {
  const char *ptx;             /* NUL-terminated PTX, as NVRTC made it */
  const void *cubin;           /* may be NULL for a simulated device */
  size_t cubin_size;
} cawb_image;

/* One step of a recorded plan. */
typedef enum cawb_step_kind {
  CAWB_STEP_LAUNCH, CAWB_STEP_FILL, CAWB_STEP_GEMM, CAWB_STEP_CONV
} cawb_step_kind;

typedef struct cawb_step {
  cawb_step_kind kind;
  /* LAUNCH */
  const char *kernel;          /* the entry's full (mangled) name in the PTX */
  unsigned grid[3], block[3], cluster[3];
  size_t shared;               /* dynamic shared memory, bytes */
  int cooperative;             /* all blocks are under way at once, so that they may wait for each other */
  int dependent;               /* it may begin while the launch before it ends, and waits for that by itself: see plan/launch.c */
  const void *args;            /* the parameter block as PTX lays it out:  */
  size_t args_size;            /* each parameter at its natural alignment  */
  /* FILL: `pattern` repeated over `size` bytes (a multiple of 4) at `addr` */
  cawb_addr addr;
  size_t size;
  uint32_t pattern;
  int poison;                  /* a fill that writes nothing: what it leaves must not be read */
  /* GEMM, CONV: one of the two, which outlives the step, and where its operands are */
  const cawb_gemm *gemm;
  const cawb_conv *conv;
  cawb_addr operand[CAWB_OPERANDS];
} cawb_step;

/* What a run was seen to do. A device that counts nothing leaves counted at 0. */
typedef struct cawb_report {
  int counted;
  uint64_t warp_instructions;    /* instructions issued, one per warp */
  uint64_t thread_instructions;  /* the same, times the active lanes */
  uint64_t global_requests;      /* warp-level loads, stores, atomics */
  uint64_t global_sectors;       /* 32-byte sectors that they touched */
  uint64_t shared_requests;      /* warp-level shared-memory accesses */
  uint64_t shared_wavefronts;    /* passes that they needed; more: conflicts */
  uint64_t branches;             /* conditional branches executed */
  uint64_t divergent_branches;   /* of these, with lanes going both ways */
  uint64_t dram_bytes;           /* sectors that came to L2 or must go from it, times 32 */
  uint64_t barriers;             /* block barriers passed, per warp */
  uint64_t races;                /* unordered conflicting shared accesses seen */
  char race[512];                /* the first one, in words; "" for none */
  double seconds;                /* modelled time of the whole run; 0: not modelled */
  struct { double memory, l2, l1, shared, issue, latency, blocks, launch; } bound;  /* its parts, seconds */
} cawb_report;

/* Bytes to keep of each sample: those of sample i go to `to + i * stride`. */
typedef struct cawb_save {
  cawb_addr from, to;
  size_t size, stride;
} cawb_save;

/* How to time, and room for the answer. */
typedef struct cawb_timing {
  unsigned warmup;             /* runs before the first sample; fewer of what takes long */
  unsigned max_samples;        /* capacity of `samples` */
  double budget;               /* stop early after about so many seconds */
  double *samples;             /* caller-owned; seconds of one run each */
  const cawb_step *before;     /* executed untimed ahead of every run but the first, */
  size_t nbefore;              /*   for which the caller has just done it; may be none */
  const cawb_save *save;       /* copied untimed after every sample; may be none */
  size_t nsave;
  double slowest;              /* a sample with an SM clock below this share of the highest */
                               /*   seen is thrown away; 0: none is */
  unsigned launch_calls;       /* calls to know launch_bound by, fewer of long ones; 0: do not */
  double *clocks;              /* out: as `samples`, the SM clock around each, Hz; or NULL */
  unsigned count;              /* out: how many were taken */
  unsigned throttled;          /* out: how many were thrown away */
  double launch_bound;         /* out: seconds of one call as a host sees it that launches the */
                               /*   steps one by one and waits, warm: the median; 0: unknown */
} cawb_timing;

/* Something that is known of one launch. Texts are valid until the next profile. */
typedef struct cawb_profile_value {
  unsigned launch;             /* which of the plan's launches, from 0 */
  const char *kernel, *metric;
  const char *source;          /* "cupti": counted, "events": timed, "driver": of the code, */
                               /*   "simulator": counted or modelled by it */
  double value;                /* NaN where it is undefined: a ratio of nothing */
} cawb_profile_value;

/* Where the time goes, line by line: how to look, and what was seen. */
typedef struct cawb_sampling {
  const cawb_image *image;     /* in: the module's code, with line tables; NULL: do not look */
  unsigned period;             /* in: 2 to this power clocks from sample to sample; out: the */
                               /*   period that was used, longer where the buffer was full */
  size_t buffer;               /* in: bytes for samples on the device */
  double budget;               /* in: seconds of executions, at least one */
  unsigned most;               /* in: executions, at most */
  unsigned runs;               /* executions */
  const char *unit;            /* what was counted: "samples", "warp instructions" */
  cawb_samples seen;
  char note[1024];             /* why there are none; "" where there are */
} cawb_sampling;

/* What to look at, and the answer: free it with cawb_profile_free in every case. */
typedef struct cawb_profile {
  const char *site_packages;   /* in: where the library of counters may be, too; or NULL */
  const cawb_step *before;     /* in: executed uncounted ahead of every pass but the */
  size_t nbefore;              /*   first, for which the caller has just done it */
  cawb_profile_value *list;    /* in the order of the launches */
  size_t count;
  unsigned passes;             /* counted executions; 0: there were no counters */
  double setup, seconds;       /* of getting ready, which is kept, and of the rest */
  char note[1024];             /* why there were no counters; "" where there were */
  cawb_sampling sampling;
} cawb_profile;

/*
** Memory that another process owns: a file descriptor for a simulated device
** (borrowed; the caller closes it), a CUDA IPC handle for a real one.
*/
typedef struct cawb_share {
  int fd;                      /* -1: none */
  unsigned char ipc[64];
  size_t size;
  const char *label;           /* names it in fault messages; NULL: "shared memory" */
} cawb_share;

/* What is known of a kernel, and of blocks of it with so much beside. */
typedef struct cawb_kernel_facts {
  size_t shared, local;        /* static shared memory of a block, local memory of a thread; bytes */
  unsigned registers;          /* of a thread; 0: unknown */
  unsigned threads;            /* most threads that its code allows in a block */
  unsigned resident;           /* blocks that a multiprocessor holds at a time */
} cawb_kernel_facts;

void        cawb_device_close(cawb_device *d);            /* NULL is a no-op */
const cawb_device_info *cawb_device_about(const cawb_device *d);

/* `label` names the tensor in fault messages; it is copied. Contents undefined. */
cawb_status cawb_device_alloc(cawb_device *d, size_t size, const char *label,
                              cawb_addr *out, cawb_err *err);
void        cawb_device_free(cawb_device *d, cawb_addr a);  /* 0 is a no-op */

/* From here on a kernel that writes to this buffer faults, where the device can see to that
** (`protects` above); the functions below still write to it. */
cawb_status cawb_device_protect(cawb_device *d, cawb_addr a, cawb_err *err);

cawb_status cawb_device_write(cawb_device *d, cawb_addr dst, const void *src,
                              size_t size, cawb_err *err);
cawb_status cawb_device_read(cawb_device *d, void *dst, cawb_addr src,
                             size_t size, cawb_err *err);
cawb_status cawb_device_copy(cawb_device *d, cawb_addr dst, cawb_addr src,
                             size_t size, cawb_err *err);
cawb_status cawb_device_fill(cawb_device *d, cawb_addr dst, uint32_t pattern,
                             size_t size, cawb_err *err);

/* Make another process's memory addressable, until detached. */
cawb_status cawb_device_attach(cawb_device *d, const cawb_share *share,
                               cawb_addr *out, cawb_err *err);
void        cawb_device_detach(cawb_device *d, cawb_addr a);

cawb_status cawb_device_load(cawb_device *d, const cawb_image *image,
                             cawb_module **out, cawb_err *err);
void        cawb_device_unload(cawb_device *d, cawb_module *m);  /* NULL: no-op */

/*
** Decide how each library call among the steps is going to be computed: `choices` has room
** for all n, those of other steps are left empty. A library is opened at its first use; it
** may be in `site_packages`, which may be NULL. The calls are tried: their outputs are
** overwritten. CAWB_ERR_CANDIDATE where no algorithm fits, CAWB_ERR_UNSUPPORTED without the
** library.
*/
cawb_status cawb_device_choose(cawb_device *d, const cawb_step *steps, size_t n,
                               const char *site_packages, cawb_choice *choices, cawb_err *err);

/*
** Execute the steps once, in order, and wait. CAWB_ERR_CANDIDATE with the
** reason when a kernel faults; on a real device the context may then be lost
** (cawb_device_lost), and the process should be replaced.
*/
cawb_status cawb_device_run(cawb_device *d, cawb_module *m, const cawb_step *steps,
                            size_t n, cawb_report *report, cawb_err *err);

/*
** The names of the module's variables that hold something else than when it was loaded, ", " between
** them, cut to `room`; "" for none. Before every run and every timed execution they are put back, so
** what the last one has left is told.
*/
cawb_status cawb_device_changed(cawb_device *d, cawb_module *m, char *names, size_t room, cawb_err *err);

/*
** For a program in place of a candidate: from here on the runs are one. Variables keep what kernels
** leave in them, and what was touched stays in L2. A real device takes no notice.
*/
void cawb_device_lasting(cawb_device *d);

/* Where printf of kernels goes from here on, at the moment of the launch; NULL, as at first: nowhere. A real device takes
** no notice. */
void cawb_device_prints(cawb_device *d, FILE *to);

/* Where a variable of the module is: CAWB_ERR_MISSING where it has none of that (mangled) name. */
cawb_status cawb_device_variable(cawb_device *d, const cawb_module *m, const char *name,
                                 cawb_addr *at, size_t *size, cawb_err *err);

/* `threads` in a block, and `shared` bytes of dynamic shared memory. CAWB_ERR_MISSING without such a kernel. */
cawb_status cawb_device_kernel(cawb_device *d, const cawb_module *m, const char *name, unsigned threads,
                               size_t shared, cawb_kernel_facts *out, cawb_err *err);

/* For implementations: one more name. */
void cawb_device_name(char *names, size_t room, const char *name);

/* Execute the steps repeatedly with a cold L2 cache, timing each execution. */
cawb_status cawb_device_time(cawb_device *d, cawb_module *m, const cawb_step *steps,
                             size_t n, cawb_timing *timing, cawb_err *err);

/*
** Execute the steps as often as it takes to count all `metrics` (the device's own
** names) for every launch, from a cold L2 cache. A metric that the device has not is
** left out; without any right to count, what else is known is the answer, with a note.
** A simulated device has counts of its own and ignores the list. Lines are sampled last.
*/
cawb_status cawb_device_profile(cawb_device *d, cawb_module *m, const cawb_step *steps,
                                size_t n, const char *const *metrics, size_t nmetrics,
                                cawb_profile *profile, cawb_err *err);
void        cawb_profile_free(cawb_profile *profile);

/* For implementations: one more value. */
cawb_status cawb_profile_add(cawb_profile *p, cawb_profile_value v, cawb_err *err);

int cawb_device_lost(const cawb_device *d);

/* Of each launch at most so many blocks are executed, and stand for the others: results are
** then incomplete and counts estimates. 0: all of them. What is allocated from then on takes
** room only where it is touched. A device that does not simulate takes no notice. */
void cawb_device_sample(cawb_device *d, uint64_t blocks);

/* Whether launches look for races, reads of what nothing has written and accesses to where a
** copy is under way (cawb_report.races), which takes time: at first they do. Sampled and
** timed ones never do. Accesses out of bounds and misused barriers always end a launch. A
** device that does not simulate takes no notice. */
void cawb_device_sanitize(cawb_device *d, int on);

/* How many threads execute a launch's blocks: 1 at first. 0: as many as there are cores for the
** process, where the launch is worth it. What a launch does, counts and finds is the same with
** any number. A device that does not simulate takes no notice. */
void cawb_device_threads(cawb_device *d, unsigned n);

/* ---------------- for implementations: the table behind a device -------------- */

typedef struct cawb_device_ops {
  void (*close)(cawb_device *);
  cawb_status (*alloc)(cawb_device *, size_t, const char *, cawb_addr *, cawb_err *);
  void (*free)(cawb_device *, cawb_addr);
  cawb_status (*protect)(cawb_device *, cawb_addr, cawb_err *);   /* NULL: it cannot */
  void (*sample)(cawb_device *, uint64_t);                        /* NULL: it cannot */
  void (*sanitize)(cawb_device *, int);                           /* NULL: it cannot */
  void (*threads)(cawb_device *, unsigned);                       /* NULL: it has none */
  void (*prints)(cawb_device *, FILE *);                          /* NULL: nothing is printed */
  cawb_status (*write)(cawb_device *, cawb_addr, const void *, size_t, cawb_err *);
  cawb_status (*read)(cawb_device *, void *, cawb_addr, size_t, cawb_err *);
  cawb_status (*copy)(cawb_device *, cawb_addr, cawb_addr, size_t, cawb_err *);
  cawb_status (*fill)(cawb_device *, cawb_addr, uint32_t, size_t, cawb_err *);
  cawb_status (*attach)(cawb_device *, const cawb_share *, cawb_addr *, cawb_err *);
  void (*detach)(cawb_device *, cawb_addr);
  cawb_status (*load)(cawb_device *, const cawb_image *, cawb_module **, cawb_err *);
  void (*unload)(cawb_device *, cawb_module *);
  cawb_status (*choose)(cawb_device *, const cawb_step *, size_t, const char *, cawb_choice *,
                        cawb_err *);
  cawb_status (*run)(cawb_device *, cawb_module *, const cawb_step *, size_t,
                     cawb_report *, cawb_err *);
  cawb_status (*time)(cawb_device *, cawb_module *, const cawb_step *, size_t,
                      cawb_timing *, cawb_err *);
  cawb_status (*profile)(cawb_device *, cawb_module *, const cawb_step *, size_t,
                         const char *const *, size_t, cawb_profile *, cawb_err *);
  cawb_status (*changed)(cawb_device *, cawb_module *, char *, size_t, cawb_err *);
  void (*lasting)(cawb_device *);                                 /* NULL: runs are what they are; */
  cawb_status (*variable)(cawb_device *, const cawb_module *, const char *, cawb_addr *, size_t *,
                          cawb_err *);                            /* and of its modules nothing is */
  cawb_status (*kernel)(cawb_device *, const cawb_module *, const char *, unsigned, size_t,
                        cawb_kernel_facts *, cawb_err *);         /*   known */
} cawb_device_ops;

/* An implementation (cuda/open.h, sim/open.h) embeds this as its first member and fills all of it. */
struct cawb_device {
  const cawb_device_ops *ops;
  cawb_device_info info;
  int lost;                    /* set it when nothing further can work */
};

#endif
