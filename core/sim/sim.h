/*
** sim.h - the simulated device inside: what its files share.
**
** ptx_lex, ptx_parse: PTX text -> declarations and statements
** decode*:            one statement -> one sim_insn, operands resolved
** body_*.h, exec_*.c: what the instructions do, compiled once per instruction set
** memory, launch, fault, time_model, device_sim: everything around them
*/
#ifndef CAWB_SIM_H
#define CAWB_SIM_H

#include <setjmp.h>

#include "../device.h"
#include "async.h"
#include "facts.h"

#define SIM_ALL 0xffffffffu
#define SIM_WARPS 32u                /* most warps in a block */

/* ------------------------------------------------------------ instructions */

/*
** An operand is 32 lanes of 4 or 8 bytes (or a 32-bit lane mask, for a
** predicate) at `off` bytes from one of the warp's bases.
*/
enum { SIM_REGS, SIM_CONSTS, SIM_BLOCK, SIM_WARP, SIM_BASES };

typedef struct sim_ref { uint32_t base, off; } sim_ref;

enum { SIM_NOGUARD = 0xffffffffu };

typedef struct sim_warp sim_warp;
typedef struct sim_insn sim_insn;
typedef int (*sim_fn)(sim_warp *, const sim_insn *);

/* What a handler asks of the loop around it; 0: go on with the next one. */
enum { SIM_NEXT, SIM_JUMP, SIM_SPLIT, SIM_EXIT, SIM_WAIT_WARP, SIM_WAIT_BLOCK, SIM_FAULT,
       SIM_WAIT_CLUSTER, SIM_PARK };

enum { SIM_RN, SIM_RZ, SIM_RM, SIM_RP };
enum { SIM_SAT = 1, SIM_RELU };
enum { SIM_EQ, SIM_NE, SIM_LT, SIM_LE, SIM_GT, SIM_GE, SIM_NUM, SIM_NAN, SIM_UNORD = 8 };
enum { SIM_GENERIC, SIM_GLOBAL, SIM_SHARED, SIM_LOCAL, SIM_PARAM, SIM_CONST,
       SIM_NEAR,              /* shared memory of a block of the cluster */
       SIM_FUNCTIONS };       /* addresses of functions; nothing is there */

/* r[0] is the destination; vectors take r[0], r[2], r[3], r[4]. */
struct sim_insn {
  sim_fn fn;
  sim_fn inner;           /* behind a wrapper for rounding modes and saturation */
  sim_ref r[5];
  uint32_t guard;         /* offset of the predicate, or SIM_NOGUARD */
  uint32_t guard_not;     /* 0 or SIM_ALL */
  int64_t imm;            /* address offset; jump target; barrier and so on */
  uint32_t line;          /* of the source; 0: unknown */
  uint32_t extra;         /* further operands, from here on in the function's extras */
  uint16_t op;
  uint8_t width, vec;     /* bytes of an element; elements */
  uint8_t stride;         /* bytes of a register lane, where not the width */
  uint8_t space, wide;    /* state space; 1: addresses are 64-bit registers */
  uint8_t sext, ftz, sat, rnd, cmp, mode, atomic;
  uint8_t pipe;           /* for the time model: which unit, */
  uint16_t cost;          /* for how many slots; of tensor cores: in quarters of a clock */
  uint8_t more, approx;   /* further instructions of the machine; .approx or .full was asked for */
  uint8_t shared;         /* one for SIM_UNROLL turns of a loop */
  uint8_t leader;         /* SIM_LEADS_...: warps wait here, see schedule.c */
  uint16_t run, chain;    /* unguarded instructions, plain multiply-adds from here on; see straight.c */
};

/* A constant operand: `size` bytes per lane, filled at load or at launch. */
enum { SIM_K_VALUE, SIM_K_PARAM, SIM_K_NTID, SIM_K_NCTAID, SIM_K_DYNAMIC, SIM_K_DYNSIZE,
       SIM_K_CLUSTER, SIM_K_NCLUSTER, SIM_K_CLUSTER_SIZE };

typedef struct sim_constant {
  uint8_t kind, size, width, sext;
  uint32_t off;           /* in the constants' area */
  uint64_t value;         /* value, parameter's offset, dimension, addend */
} sim_constant;

typedef struct sim_function {
  char *name;             /* as PTX spells it */
  char *plain;            /* for messages */
  size_t args_size;
  sim_insn *code;
  uint32_t count, room;
  sim_ref *extras;        /* operands of instructions that have many */
  uint32_t nextras, extras_room;
  sim_constant *consts;
  uint32_t nconsts, consts_room, consts_size;
  uint32_t regs_size;     /* bytes of registers of one warp */
  uint32_t regs_used;     /* registers of one thread, from the cubin; 0: unknown */
  uint32_t local_size;    /* bytes of local memory of one thread */
  uint32_t shared_size;   /* static shared memory */
  uint32_t dynamic_align; /* of the extern array, if there is one */
  uint32_t grain;         /* log2 of the smallest shared access */
  int fences;             /* blocks may take turns by fences and flags */
  uint32_t max_threads;   /* .maxntid, .reqntid; 0: none */
  uint32_t cluster[3];    /* .reqnctapercluster; 0: none */
  char *unknown;          /* the first instruction that is not known, or NULL */
  uint32_t unknown_line;
  struct sim_function *next;
} sim_function;

/* -------------------------------------------------------------- addresses */

/*
** Device addresses are slots of 64 GiB with one region each, so that finding a
** region is a shift and everything around a tensor is a gap. The first slots
** are the windows of generic addresses onto the other spaces.
*/
#define SIM_SLOT_BITS 36
#define SIM_SLOTS 4096u
#define SIM_SLOT_FIRST 16u
#define SIM_SLOT_OFFSET (UINT64_C(1) << 34)
#define SIM_WINDOW(space) ((uint64_t)(space) << SIM_SLOT_BITS)

/* Which block stored last: per 32 bytes, per 4 bytes; see body_race.h. Both or none. */
#define SIM_PARTED 0x80000000u
typedef struct sim_notes {
  uint32_t *sectors, *words;
  uint32_t last;          /* the last block that stored anywhere */
} sim_notes;

typedef struct sim_region {
  cawb_addr base;
  size_t size;
  unsigned char *host;
  uint64_t *bits;         /* sectors touched: reads now, writes now, reads and */
  size_t words;           /* writes of the run; `words` 64-bit words each */
  sim_notes notes;
  uint64_t *written;      /* since it was poisoned: a bit for each 4 bytes; NULL: it was not */
  uint32_t *last;         /* by line of 128 bytes: the block that touched it last, stamped */
  sim_sectors half;       /* of a sample, see sample.c */
  double grown;           /* what is not executed touches so much more */
  int attached;           /* mapped, and no area of malloc's */
  char label[48];
} sim_region;

enum { SIM_READS_NOW, SIM_WRITES_NOW, SIM_READS_RUN, SIM_WRITES_RUN, SIM_BITMAPS };

/* ---------------------------------------------------------------- device */

typedef cawb_figures sim_model;

typedef struct sim_isa sim_isa;

typedef struct sim_watch sim_watch;       /* see profile.c */

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
  sim_line *cache;        /* SIM_LINES, see body_cache.h */
  uint32_t *hot;          /* SIM_HOT */
  uint32_t cache_block;   /* the highest number given to a block there */
  uint32_t last_stamp;    /* the highest in a region's `last` */
  uint64_t sample;        /* most blocks of a launch that are executed; 0: all are */
  int sanitize;           /* look for races, unwritten memory and copies under way */
  int launches;           /* of the run so far */
} sim_device;

struct cawb_module {
  sim_device *device;
  sim_function *functions;      /* entries */
  cawb_addr *variables;         /* regions of the module's own variables */
  size_t nvariables, variables_room, variables_bytes;
};

/* memory.c */
void *sim_area_new(size_t size);                   /* aligned to 128 bytes */
void  sim_area_free(void *area);                   /* NULL is a no-op */
sim_region *sim_region_new(sim_device *d, size_t size, const char *label, cawb_err *err);
void        sim_region_drop(sim_device *d, cawb_addr a);
sim_region *sim_region_at(const sim_device *d, cawb_addr a);
sim_region *sim_region_near(const sim_device *d, cawb_addr a);
int         sim_regions_follow(sim_device *d);     /* make notes; 0 when out of memory */
void        sim_regions_unfollow(sim_device *d);   /* as if no block had ever stored */
void        sim_region_poisoned(sim_region *r);    /* from now on `written` is kept, if memory allows */
void        sim_region_written(sim_region *r, cawb_addr a, size_t size);
void        sim_regions_forget(sim_device *d);     /* clear the touched sectors */
uint64_t    sim_region_touch(sim_region *r, int map, cawb_addr a, size_t size);  /* those new to it */
cawb_status sim_memory_alloc(cawb_device *d, size_t size, const char *label,
                             cawb_addr *out, cawb_err *err);
void        sim_memory_free(cawb_device *d, cawb_addr a);
cawb_status sim_memory_write(cawb_device *, cawb_addr, const void *, size_t, cawb_err *);
cawb_status sim_memory_read(cawb_device *, void *, cawb_addr, size_t, cawb_err *);
cawb_status sim_memory_copy(cawb_device *, cawb_addr, cawb_addr, size_t, cawb_err *);
cawb_status sim_memory_fill(cawb_device *, cawb_addr, uint32_t, size_t, cawb_err *);
cawb_status sim_memory_attach(cawb_device *, const cawb_share *, cawb_addr *, cawb_err *);

/* ptx_parse.c */
cawb_status sim_module_parse(sim_device *d, const char *ptx, cawb_module **out, cawb_err *err);
void        sim_module_free(cawb_module *m);
const sim_function *sim_module_find(const cawb_module *m, const char *name);

/* refuse.c: `out` is filled and cut to `room` */
#define SIM_ELSEWHERE "use a real one (--device cuda:0)"
#define SIM_UNKNOWN "not known to the simulated device; " SIM_ELSEWHERE
const char *sim_family(const char *what, size_t size);   /* "tensor-core instructions"; NULL: none */
void sim_place(char *out, size_t room, const char *kernel, uint32_t line);
void sim_refusal(char *out, size_t room, const char *what, size_t size);

/* schedule.c: mark the loads that a warp waits for; 0 when out of memory */
#define SIM_UNROLL 4.0          /* turns of a small loop that ptxas puts side by side */
enum { SIM_LEADS_GLOBAL = 1, SIM_LEADS_SHARED, SIM_LEADS_UNROLLED };
int sim_schedule(sim_function *f);

void sim_straight(sim_function *f);           /* straight.c: stretches that are executed as a whole */
void sim_straight_settle(sim_exec *x);        /* and what was counted of them */

/* cost.c: what the machine's compiler makes of an instruction */
void sim_costs(sim_function *f);

/* cubin.c: note the registers that each kernel needs, where the cubin tells */
void sim_cubin_read(cawb_module *m, const void *cubin, size_t size);

/* -------------------------------------------------------------- execution */

/* A set of lanes of a warp that are at the same instruction. */
enum { SIM_READY, SIM_AT_WARP, SIM_AT_BLOCK, SIM_AT_CLUSTER };
typedef struct sim_group { uint32_t pc, mask; uint16_t state, barrier; } sim_group;

enum { SIM_FAULT_NONE, SIM_FAULT_ADDRESS, SIM_FAULT_ALIGN, SIM_FAULT_TRAP,
       SIM_FAULT_ASSERT, SIM_FAULT_BARRIER, SIM_FAULT_WARP, SIM_FAULT_READONLY };

typedef struct sim_fault {
  int kind;
  const sim_insn *insn;
  unsigned warp, lane, size, space;
  int write;                    /* 0 read, 1 write, 2 atomic */
  uint64_t addr;
  char text[200];               /* of barrier faults */
} sim_fault;

typedef struct sim_barrier {
  uint32_t expected, arrived;   /* threads; expected 0: the whole block */
  uint32_t count, all, any;     /* bar.red */
} sim_barrier;

enum { SIM_RACE_WARPS, SIM_RACE_LANES, SIM_RACE_BLOCKS, SIM_RACE_COPY, SIM_RACE_UNSET };

enum { SIM_SHAPES = 1 << 7, SIM_WAW = 1024 };

struct sim_warp {
  unsigned char *base[SIM_BASES];
  uint32_t mask;                /* lanes that execute the current instruction */
  uint32_t active;              /* lanes of the running group */
  uint32_t pc, target;
  uint32_t born, live;          /* lanes that exist; that have not exited */
  uint32_t waited;              /* the live lanes when waiting groups last tried */
  uint32_t next;                /* lowest pc of another ready group */
  uint32_t carry;               /* the condition code of add.cc and its kin */
  unsigned index, ngroups;
  uint32_t fails, polls;        /* waits in vain, looks at global memory, since its turn began */
  uint32_t met;                 /* lanes that have arrived at the cluster's barrier */
  uint32_t meeting;             /* which meeting of the cluster they arrived at */
  sim_copy *copies;             /* under way */
  uint32_t ncopies, copies_room;
  uint32_t commits[SIM_LANES];  /* groups of copies that each lane has closed */
  uint32_t touches;             /* of lines, in this block */
  sim_group group[SIM_LANES];   /* the groups that are not running */
  unsigned char *local, *local_set;   /* a byte for each 4 of `local`: it was written */
  sim_exec *exec;
};

enum { SIM_CTAID_X = 0, SIM_CTAID_Y = 128, SIM_CTAID_Z = 256, SIM_CLUSTERID_X = 384,
       SIM_CLUSTERID_Y = 512, SIM_CLUSTERID_Z = 640, SIM_MEMBER_X = 768, SIM_MEMBER_Y = 896,
       SIM_MEMBER_Z = 1024, SIM_RANK = 1152, SIM_BLOCK_BYTES = 1280 };
enum { SIM_TID_X = 0, SIM_TID_Y = 128, SIM_TID_Z = 256, SIM_LANEID = 384,
       SIM_WARPID = 512, SIM_MASK_EQ = 640, SIM_MASK_LT = 768, SIM_MASK_LE = 896,
       SIM_MASK_GT = 1024, SIM_MASK_GE = 1152, SIM_WARP_BYTES = 1280 };

/* One launch being executed. */
struct sim_exec {
  sim_device *device;
  const sim_function *function;
  const cawb_step *step;
  uint64_t *hits;               /* per instruction: warps that executed it; see straight.c */
  int checks;                   /* look for races, unwritten memory, copies under way */
  sim_counts counts;
  sim_warp *warps;
  unsigned nwarps, threads;
  unsigned char *registers, *consts, *local, *local_set, *blockvals, *warpvals;
  unsigned char *params;        /* the parameter block, padded */
  unsigned char *shared;
  uint32_t local_stride;        /* bytes of local memory from thread to thread */
  uint32_t shared_size, grain;
  uint32_t *writers, *readers;  /* shadow of shared memory, see body_shadow.h */
  uint32_t *lines;              /* source line of the last write */
  uint32_t shadow_size, epoch;
  uint32_t born;                /* the epoch in which the block began; 0: it is not known any more */
  struct sim_waw { uint32_t unit, other, was; } *waw;   /* units that several warps wrote; see body_shadow.h */
  uint32_t nwaw;
  int collecting;               /* stores note such units there */
  sim_shape *shapes;            /* SIM_SHAPES, by address register and size */
  uint64_t clock;
  uint8_t *flight;              /* copies under way to each unit of shared memory */
  uint32_t flying;              /* copies under way to the block, in units */
  sim_exec **peers, *alone;     /* the blocks of the cluster; `alone`: where there is one */
  unsigned npeers, rank, cluster[3];
  uint32_t meetings;            /* times that the cluster has met */
  int ended, suspended, polling;   /* it is over, its shared memory gone; it goes on; it waits for others */
  sim_exec **parked;            /* clusters that wait for later ones, at the launch's own */
  unsigned nparked, parked_room;
  sim_bulk *bulks;              /* of the whole cluster, at its first block */
  uint32_t nbulks, bulks_room;
  sim_line *cache;              /* SIM_LINES, the device's */
  uint32_t *hot;                /* SIM_HOT, the device's: atomics by place */
  uint32_t cache_block;         /* the block's number there */
  uint64_t lowest, touches, news;        /* base of the first region; of all warps; lines new to the block */
  uint64_t executed;            /* blocks, of those of the grid; see sample.c */
  double longest, squares;      /* thread instructions of a block: most; sum of squares */
  double l1_room, l2_room;      /* lines of either for one block */
  double at_once;               /* blocks under way */
  double l2_sectors, block_sectors;      /* that L2 holds; that a block takes there */
  uint32_t first_stamp;         /* of block 0 in a region's `last` */
  unsigned block[3], serial;
  unsigned exited;              /* threads of the block that are done */
  sim_barrier barrier[16];
  sim_fault fault;
  sim_launch_facts facts;       /* once it is over */
  uint32_t first_block;         /* number of the launch's first block, see body_race.h */
  int follows;                  /* blocks' stores are compared */
  struct {                      /* the first race */
    int kind, space;
    uint32_t line, other;            /* lines of this and the other access; */
    uint64_t place;                  /* between blocks: the other's serial */
    unsigned warp, block[3];
    int how, other_how;              /* 0 read, 1 wrote, 2 atomic */
    int other_warp;                  /* -1: several */
  } race;
};

/* The executor as compiled for one instruction set. */
struct sim_isa {
  const char *name;
  const sim_fn *table;          /* by opcode */
  int (*block)(sim_exec *);     /* a block and its peers: SIM_FAULT, SIM_PARK or 0 at its end */
};

extern const sim_isa sim_isa_base, sim_isa_avx2, sim_isa_avx512;
const sim_isa *sim_isa_best(void);

/* profile.c: note a launch that has been settled; `before` is the report without it */
cawb_status sim_profile(cawb_device *d, cawb_module *m, const cawb_step *steps, size_t n,
                        const char *const *metrics, size_t nmetrics, cawb_profile *p,
                        cawb_err *err);
cawb_status sim_watch_launch(const sim_exec *x, const cawb_report *before,
                             const cawb_report *after, cawb_err *err);

/* library.c: gemm and conv in C; product.c and convolve.c are its arithmetic, on floats in
** one piece of memory each, already rounded */
cawb_status sim_library_run(sim_device *d, const cawb_step *s, cawb_report *report, cawb_err *err);
cawb_status sim_library_choose(cawb_device *d, const cawb_step *steps, size_t n,
                               const char *site_packages, cawb_choice *choices, cawb_err *err);
void sim_product(float *c, const float *a, const float *b, size_t m, size_t n, size_t k);
void sim_convolve(float *y, const float *x, const float *w, const cawb_conv *v);
cawb_status sim_watch_library(sim_device *d, const char *name, const cawb_report *before,
                              const cawb_report *after, cawb_err *err);

/* launch.c: everything that one block needs; all of it, or nothing */
cawb_status sim_exec_make(sim_exec *x, sim_device *d, const sim_function *f, const cawb_step *s,
                          cawb_err *err);
void        sim_exec_free(sim_exec *x);       /* and of its peers */

/* cluster.c: blocks that run together; the first of them owns the others */
void        sim_cluster_shape(const sim_function *f, const cawb_step *s, unsigned out[3]);
cawb_status sim_cluster_check(const sim_function *f, const cawb_step *s, cawb_err *err);
cawb_status sim_cluster_make(sim_exec *x, cawb_err *err);
void        sim_cluster_free(sim_exec *x);
int         sim_cluster_run(sim_exec *x);     /* that of x->block; nothing where it is not the first */
int         sim_cluster_finish(sim_exec *x);  /* those that waited for others to begin */

/* sample.c */
int    sim_sample_run(sim_exec *x);             /* the blocks: SIM_FAULT or SIM_NEXT */
void   sim_sample_join(sim_exec *p, const sim_exec *x);     /* another block of a cluster */
void   sim_sample_sectors(sim_exec *x, sim_sectors *sum);
double sim_sample_spread(const sim_exec *x);

/* launch.c, fault.c, time_model.c */
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
