/*
** exec.h - a launch being executed: groups of lanes, warps, the block and its accounts.
*/
#ifndef CAWB_SIM_EXEC_EXEC_H
#define CAWB_SIM_EXEC_EXEC_H

#include "gpu/device/device.h"
#include "sim/exec/counts.h"
#include "sim/memory/spent.h"
#include "sim/instructions/insn.h"
#include "sim/memory/region.h"

typedef struct sim_exec sim_exec;
typedef struct sim_copy sim_copy;          /* sim/access/async.h */
typedef struct sim_bulk sim_bulk;
typedef struct sim_product sim_product;
typedef struct sim_shape sim_shape;        /* shape.h */
typedef struct sim_log sim_log;            /* sim/memory/log.h */

#define SIM_WARPS 32u                /* most warps in a block */

/* A set of lanes of a warp that are at the same instruction. */
enum { SIM_READY, SIM_AT_WARP, SIM_AT_BLOCK, SIM_AT_CLUSTER, SIM_AT_GROUP };
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

enum { SIM_RACE_WARPS, SIM_RACE_LANES, SIM_RACE_BLOCKS, SIM_RACE_COPY, SIM_RACE_UNINITIALISED,
       SIM_RACE_IN_WARP, SIM_RACE_MASK, SIM_RACE_DIVERGED,      /* of lanes; masks and barriers that are misused */
       SIM_RACE_AHEAD,                                          /* of a dependent launch, with those before it */
       SIM_RACE_PRODUCT, SIM_RACE_PROXY, SIM_RACE_EARLY, SIM_RACE_ORDER };     /* of warpgroup products */

struct sim_warp {
  unsigned char *base[SIM_BASES];
  struct sim_undefined *undefined;      /* values that nothing wrote, see sim/watch/undefined.h; NULL: none */
  uint32_t mask;                /* lanes that execute the current instruction */
  uint32_t active;              /* lanes of the running group */
  uint32_t pc, target;
  uint32_t lanes, live;         /* that exist; that have not exited */
  uint32_t waited;              /* the live lanes when waiting groups last tried */
  uint32_t next;                /* lowest pc of another ready group */
  uint32_t carry;               /* the condition code of add.cc and its kin */
  unsigned index, ngroups;
  uint32_t fails, polls;        /* waits in vain, looks at global memory, since it was let run */
  uint32_t arrived;             /* lanes that have arrived at the cluster's barrier */
  uint32_t arrived_phase;       /* phase of that barrier in which they arrived */
  sim_copy *copies;             /* under way */
  uint32_t ncopies, copies_room;
  uint32_t commits[SIM_LANES];  /* groups of copies that each lane has closed */
  uint32_t touches;             /* of lines, in this block */
  uint32_t closed;              /* groups of warpgroup products; */
  int ahead;                    /* the launches before it may be under way, see sim/watch/ahead.h */
  int ordered;                  /* wgmma.fence was executed; */
  uint32_t fenced;              /* the epoch of the last fence.proxy.async: see sim/access/warpgroup.c */
  sim_group group[SIM_LANES];   /* the groups that are not running */
  unsigned char *local, *local_set;   /* a byte for each of `local`: it was written */
  struct sim_undefined *undefined_kept;       /* room for `undefined` */
  struct sim_clock *clock, *fence;    /* what it knows of other blocks, see sim/watch/order.h */
  uint64_t warp_epoch, lane_epoch[SIM_LANES];   /* of the last synchronisation of all lanes, of each lane: see warp_sync.h */
  uint64_t (*lane_clock)[SIM_LANES];   /* vector clocks of the lanes; NULL: no part of the warp has synchronised alone */
  sim_spent spent, calm;        /* in this block; when it last jumped back without having looked for something in vain, */
  int vain;                     /* as it has since it last jumped */
  uint64_t look;                /* where in global memory it last looked for what others write */
  struct sim_stack *calls;      /* see calls.c; NULL: there was none */
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
  uint64_t *hits;               /* per instruction: warps that executed it; see sim/read/stretches.c */
  int by_line;                  /* behind them, requests to memory: see traffic.h */
  int checks;                   /* look for races, unwritten memory, copies under way */
  int ahead, waited;            /* it begins while launches before it end; the block has waited for them */
  sim_counts counts;
  sim_warp *warps;
  unsigned nwarps, threads;
  unsigned char *registers, *consts, *local, *local_set, *blockvals, *warpvals;
  unsigned char *params;        /* the parameter block, padded */
  unsigned char *shared;
  uint32_t local_stride;        /* bytes of local memory from thread to thread */
  uint32_t shared_size, grain;
  uint32_t *writers, *readers;  /* shadow of shared memory, see sim/watch/shadow.h */
  uint32_t *lines;              /* source line of the last write */
  uint64_t *lane_writes, *lane_reads;   /* of the same units, see sim/watch/lanes.h; NULL: lanes cannot race */
  uint64_t lane_epochs;         /* synchronisations of lanes so far */
  uint32_t shadow_size, epoch;
  int unset;                    /* the load at hand reads what nothing has written */
  uint32_t first_epoch;         /* in which the block began; 0: it is not known any more */
  struct sim_waw *waw;          /* units that several warps wrote */
  uint32_t nwaw;
  int collecting;               /* stores note such units there */
  sim_shape *shapes;            /* SIM_SHAPES, by address register and size */
  uint64_t clock;
  uint8_t *flight;              /* copies under way to each unit of shared memory */
  uint32_t flying;              /* copies under way to the block, and reads of products, in units */
  uint8_t *reading;             /* warpgroup products under way that read each unit */
  sim_product *products;        /* under way */
  uint32_t nproducts, products_room;
  int regrouped;                /* four warps have met for one, so that others may go on */
  sim_exec **peers, *alone;     /* the blocks of the cluster; `alone`: where there is one */
  unsigned npeers, rank, cluster[3];
  uint32_t cluster_phase;       /* of the cluster's barrier: it counts how often all blocks have arrived */
  int ended, suspended, polling;   /* it is over, its shared memory gone; it goes on; it waits for others */
  sim_exec **parked;            /* clusters that wait for later ones, at the launch's own */
  unsigned nparked, parked_room;
  sim_bulk *bulks;              /* of the whole cluster, at its first block */
  uint32_t nbulks, bulks_room;
  struct sim_l1 *l1;                   /* of the thread that executes it */
  sim_log *log;          /* of a block that runs beside others, see sim/memory/log.h; else NULL */
  uint32_t *hot;                /* SIM_HOT, the device's: atomics by place */
  uint32_t cache_block;         /* the block's number there */
  uint64_t lowest, touches, news;        /* base of the first region; of all warps; lines new to the block */
  uint64_t executed;            /* blocks, of those of the grid; see sim/time/sample.c */
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
  sim_chains chains;            /* the launch's */
  sim_moves moves;              /* of the block, or the cluster, so far */
  uint64_t wait, meeting;       /* clocks that a batch of loads is taken to last where warps meet; that a barrier takes for each warp, in quarters */
  int follows;                  /* stores to global memory are compared, see sim/watch/race.h; */
  uint32_t first_stretch, stretch;      /* the launch's first stretch; the block's */
  void (*stretches)(sim_exec *, int begins);    /* told of blocks and barriers; NULL: nobody is */
  struct sim_order *order;      /* what blocks know of each other, see sim/watch/order.h; NULL: nothing */
  int learned;                  /* since the last barrier a warp came to know something */
  uint32_t turn;                /* the order of the blocks, drawn from this; 0: one after the other */
  int met;                      /* blocks that ran beside each other were in each other's way */
  struct {                      /* the first race */
    int kind, space;
    const sim_insn *at;              /* this access */
    uint32_t line, other;            /* lines of this and the other access; */
    uint64_t place;                  /* between blocks: the other's serial */
    unsigned warp, lane, block[3];
    int how, other_how;              /* 0 read, 1 wrote, 2 atomic */
    int other_warp;                  /* -1: several */
    const sim_insn *user;            /* of what nothing has written: the instruction that uses it, and how; NULL: nobody */
    const char *use;                 /* looked; NULL: the instruction's name says it */
  } race;
};

#endif
