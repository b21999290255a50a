/*
** sim.h - the simulated device inside: what its files share.
**
** ptx_lex, ptx_parse: PTX text -> declarations and statements
** decode*:            one statement -> one sim_insn, operands resolved
** body_*.h, exec_*.c: what the instructions do, compiled once per instruction set
** crew, replay, undo: blocks on several cores, with the answer of one
** elf, cubin, sass*:   the machine code that ptxas made, and how often it would run
** memory, launch, fault, time_model, device_sim: everything around them
*/
#ifndef CAWB_SIM_SIM_H
#define CAWB_SIM_SIM_H

#include <pthread.h>
#include <setjmp.h>

#include "device/device.h"
#include "sim/exec/exec.h"
#include "sim/read/insn.h"
#include "sim/memory/region.h"

/* ---------------------------------------------------------------- device */

typedef cawb_figures sim_model;

typedef struct sim_isa sim_isa;

typedef struct sim_watch sim_watch;       /* see sim/time/profile.c */

typedef struct sim_device {
  cawb_device base;
  const sim_model *model; /* &figures */
  sim_model figures;
  const sim_isa *isa;
  sim_region **slots;     /* SIM_SLOTS of them */
  unsigned next_slot;
  size_t followed;        /* bytes of regions that have notes */
  uint32_t last_block;    /* the highest number given to a block */
  sim_watch *watch;       /* what each launch is noted in, or NULL */
  sim_l1 **l1;            /* a thread's each, see sim/memory/body_cache.h */
  unsigned nl1;
  uint32_t *hot;          /* SIM_HOT */
  uint32_t last_stamp;    /* the highest in a region's `last` */
  uint64_t sample;        /* most blocks of a launch that are executed; 0: all are */
  int sanitize;           /* look for races, unwritten memory and copies under way */
  int launches;           /* of the run so far */
  unsigned threads;       /* that execute blocks; 0: as many as there are cores, where it is worth it */
  uint64_t beside;        /* launches whose blocks ran beside each other */
  pthread_mutex_t undo;   /* of what follows, see sim/cores/undo.c */
  struct sim_chunk *changed, *spare;
  size_t kept, spares;    /* how many there are */
} sim_device;

struct cawb_module {
  sim_device *device;
  sim_function *functions;      /* entries */
  cawb_addr *variables;         /* regions of the module's own variables */
  size_t nvariables, variables_room, variables_bytes;
};

/* sim/read/ptx_parse.c */
cawb_status sim_module_parse(sim_device *d, const char *ptx, cawb_module **out, cawb_err *err);
void        sim_module_free(cawb_module *m);
sim_function *sim_module_find(const cawb_module *m, const char *name);

/* sim/read/refuse.c: `out` is filled and cut to `room` */
#define SIM_ELSEWHERE "use a real one (--device cuda:0)"
#define SIM_UNKNOWN "not known to the simulated device; " SIM_ELSEWHERE
const char *sim_family(const char *what, size_t size);   /* "tensor-core instructions"; NULL: none */
void sim_place(char *out, size_t room, const char *kernel, uint32_t line);
void sim_refusal(char *out, size_t room, const char *what, size_t size);

/* sim/time/schedule.c: mark the loads that a warp waits for; 0 when out of memory */
#define SIM_UNROLL 4.0          /* turns of a small loop that ptxas puts side by side */
enum { SIM_LEADS_GLOBAL = 1, SIM_LEADS_SHARED, SIM_LEADS_UNROLLED };
int sim_schedule(sim_function *f);

void sim_straight(sim_function *f);           /* sim/read/stretches.c: stretches that are executed as a whole */
void sim_straight_settle(sim_exec *x);        /* and what was counted of them */

int sim_unset(sim_function *f);               /* sim/read/unset_registers.c; 0 when out of memory */
int sim_wgmma(sim_function *f, const sim_isa *isa);   /* sim/read/wgmma.c: who reads accumulators; 0 when out of memory */
void sim_turns(sim_function *f);              /* sim/cores/order.c: whether blocks may run beside each other */

/* sim/time/cost.c: what the machine's compiler makes of an instruction */
void sim_costs(sim_function *f);

/* sim/sass/cubin.c: note the registers that each kernel needs, where the cubin tells */
void sim_cubin_read(cawb_module *m, const void *cubin, size_t size);

/* The executor as compiled for one instruction set. */
struct sim_isa {
  const char *name;
  const sim_fn *table;          /* by opcode */
  int (*block)(sim_exec *);     /* a block and its peers: SIM_FAULT, SIM_PARK or 0 at its end */
};

extern const sim_isa sim_isa_base, sim_isa_avx2, sim_isa_avx512;
const sim_isa *sim_isa_best(void);

/* sim/time/profile.c: note a launch that has been settled; `before` is the report without it */
cawb_status sim_profile(cawb_device *d, cawb_module *m, const cawb_step *steps, size_t n,
                        const char *const *metrics, size_t nmetrics, cawb_profile *p,
                        cawb_err *err);
cawb_status sim_watch_launch(const sim_exec *x, const cawb_report *before,
                             const cawb_report *after, cawb_err *err);

/* library.c: gemm and conv in C; sim/library/product.c and sim/library/convolve.c are its arithmetic, on floats in
** one piece of memory each, already rounded */
cawb_status sim_library_run(sim_device *d, const cawb_step *s, cawb_report *report, cawb_err *err);
cawb_status sim_library_choose(cawb_device *d, const cawb_step *steps, size_t n,
                               const char *site_packages, cawb_choice *choices, cawb_err *err);
void sim_product(float *c, const float *a, const float *b, size_t m, size_t n, size_t k);
void sim_convolve(float *y, float *part, const float *x, const float *w, const cawb_conv *v);
cawb_status sim_watch_library(sim_device *d, const char *name, const cawb_report *before,
                              const cawb_report *after, cawb_err *err);

/* sim/exec/launch.c: everything that one block needs; all of it, or nothing */
cawb_status sim_exec_make(sim_exec *x, sim_device *d, const sim_function *f, const cawb_step *s,
                          cawb_err *err);
void        sim_exec_free(sim_exec *x);       /* and of its peers */

/* sim/exec/cluster.c: blocks that run together; the first of them owns the others */
void        sim_cluster_shape(const sim_function *f, const cawb_step *s, unsigned out[3]);
cawb_status sim_cluster_check(const sim_function *f, const cawb_step *s, cawb_err *err);
cawb_status sim_cluster_make(sim_exec *x, cawb_err *err);
void        sim_cluster_free(sim_exec *x);
int         sim_cluster_run(sim_exec *x);     /* that of x->block; nothing where it is not the first */
int         sim_cluster_finish(sim_exec *x);  /* those that waited for others to begin */

/* sim/cores/cores.c: blocks on several cores; sim/cores/replay.c: a log's blocks, the first of them the k-th executed */
sim_l1  *sim_l1_of(sim_device *d, unsigned i);  /* the i-th thread's; NULL when out of memory */
unsigned sim_crew_threads(const sim_exec *x, uint64_t n);   /* how many n blocks may have; 1: they run in order */
int      sim_crew_run(sim_exec *x, uint64_t n, unsigned threads);   /* 0: nothing was done, they must run in order */
int      sim_replay(sim_exec *x, const struct sim_log *g, uint64_t k);    /* 0: blocks meet */

/* sim/time/sample.c */
int    sim_sample_run(sim_exec *x);             /* the blocks: SIM_FAULT or SIM_NEXT */
void   sim_sample_begin(sim_exec *x, uint64_t k, uint64_t n);   /* the k-th of n clusters that are executed */
void   sim_sample_ran(sim_exec *x, uint64_t k, double threads); /* thread instructions of a block of it */
void   sim_sample_join(sim_exec *p, const sim_exec *x);     /* another block of a cluster */
void   sim_sample_sectors(sim_exec *x, sim_sectors *sum);
double sim_sample_spread(const sim_exec *x);

/* sim/exec/launch.c, sim/watch/fault.c, sim/time/model.c */
double sim_resident(const sim_model *m, const sim_exec *x);
double sim_traffic(const sim_model *m, const sim_launch_facts *f);

cawb_status sim_run(cawb_device *d, cawb_module *m, const cawb_step *steps, size_t n,
                    cawb_report *report, cawb_err *err);
void sim_time_launch(const sim_model *m, const sim_launch_facts *facts, cawb_report *report);
void sim_time_fill(const sim_model *m, size_t size, cawb_report *report);
void sim_time_library(const sim_model *m, double flops, double rate, double bytes,
                      cawb_report *report);
cawb_status sim_fault_report(const sim_exec *x, cawb_err *err);
void sim_race_report(const sim_exec *x, cawb_report *report);

#endif
