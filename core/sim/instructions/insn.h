/*
** insn.h - a kernel decoded: its instructions, their operands, its constants.
*/
#ifndef CAWB_SIM_EXEC_INSN_H
#define CAWB_SIM_EXEC_INSN_H

#include <stddef.h>
#include <stdint.h>

#define SIM_LANES 32u
#define SIM_ALL 0xffffffffu

/*
** An operand is 32 lanes of 4 or 8 bytes (or a 32-bit lane mask, for a
** predicate) at `off` bytes from one of the warp's bases.
*/
enum { SIM_REGS, SIM_CONSTS, SIM_BLOCK, SIM_WARP, SIM_UNUSED, SIM_BASES };    /* UNUSED: there is no such operand */

typedef struct sim_ref { uint32_t base, off; } sim_ref;

#define SIM_NONE 0xffffffffu        /* no offset of a register */
#define SIM_NOGUARD SIM_NONE

typedef struct sim_warp sim_warp;
typedef struct sim_insn sim_insn;
typedef int (*sim_fn)(sim_warp *, const sim_insn *);

/* What a handler asks of the loop around it; 0: go on with the next one. */
enum { SIM_NEXT, SIM_JUMP, SIM_SPLIT, SIM_EXIT, SIM_WAIT_WARP, SIM_WAIT_BLOCK, SIM_FAULT,
       SIM_WAIT_CLUSTER, SIM_PARK, SIM_WAIT_GROUP,
       SIM_UNDEFINED };         /* go on with the next one, looking at each: see sim/watch/undefined.h */

enum { SIM_RN, SIM_RZ, SIM_RM, SIM_RP, SIM_RNA };
enum { SIM_SAT = 1, SIM_RELU = 2, SIM_FINITE = 4 };       /* bits: to [0, 1] or a range; not below 0; not infinite */
enum { SIM_EQ, SIM_NE, SIM_LT, SIM_LE, SIM_GT, SIM_GE, SIM_NUM, SIM_NAN, SIM_UNORD = 8 };
enum { SIM_GENERIC, SIM_GLOBAL, SIM_SHARED, SIM_LOCAL, SIM_PARAM, SIM_CONST,
       SIM_NEAR,              /* shared memory of a block of the cluster */
       SIM_FUNCTIONS };       /* addresses of functions; nothing is there */

/*
** One instruction, decoded. r[0] is the destination; vectors take r[0], r[2], r[3], r[4]. Each
** field means one thing; instructions that have no use for one leave it 0.
*/
struct sim_insn {
  sim_fn fn;
  sim_ref r[5];
  uint16_t run, chain;    /* unguarded instructions, plain multiply-adds from here on; see sim/read/stretches.c */
  uint32_t guard;         /* offset of the predicate, or SIM_NOGUARD */
  uint32_t guard_not;     /* 0 or SIM_ALL */
  uint32_t second;        /* offset of a second result, a predicate, or SIM_NONE */
  union {
    int64_t offset;       /* of an address, in bytes */
    int64_t target;       /* of jumps: number of an instruction; -1: not known yet */
    uint64_t value;       /* of others: a constant, as the function that executes it says */
  };
  sim_fn inner;           /* what fn goes around: other roundings, saturation; see sim/read/wgmma.c */
  union {
    uint32_t to_offset;   /* of the address that a copy goes to, where offset is of the other */
    struct { uint16_t m, n, k, registers; } shape;       /* of matrices; how many of the extras they are in */
  };
  uint32_t extra;         /* further operands, from here on in the function's extras */
  uint32_t line;          /* of the source; 0: unknown */
  uint32_t text;          /* line of the PTX */
  uint16_t op;            /* SIM_OP_..., see ops.h */
  uint8_t mode;           /* which of the instruction's variants, */
  uint8_t flags;          /* and bits for what it may do besides: see variants.h, or what executes it */
  uint8_t width, vec;     /* bytes of an element; elements */
  uint8_t lane;           /* bytes of a lane of the registers with the data; of conversions, of the result, */
  uint8_t from_lane;      /* and of what is converted */
  uint8_t type[4];        /* of values and matrices, a letter each: the result's, its operands' */
  uint8_t space, wide;    /* state space; bit k: operand k is an address of 64 bits (5: the one in extras) */
  uint8_t cmp;            /* SIM_EQ ... */
  uint8_t more;           /* for the time model: further instructions of the machine, */
  uint16_t cost;          /* slots of its pipe; of tensor cores: in quarters of a clock */
  uint16_t leader : 2,    /* SIM_LEADS_...: warps wait here, see sim/time/schedule.c */
           unrolled : 1,  /* one for SIM_UNROLL iterations of a loop */
           sext : 1,      /* integers have a sign */
           negate : 1,    /* the predicate operand is negated */
           ftz : 1,       /* subnormals are flushed */
           sat : 3,       /* SIM_SAT ... */
           rnd : 3,       /* SIM_RN ... */
           approx : 1,    /* .approx or .full was asked for */
           strong : 1,    /* other threads may look at the same place: volatile, relaxed, acquire, release */
           keeps : 1,     /* of shared memory: another lane may access it before the lanes meet, */
           looks : 1;     /* or may have; see sim/read/lanes.c */
};

/* A constant operand: `size` bytes per lane, filled at load or at launch. */
enum { SIM_K_VALUE, SIM_K_PARAM, SIM_K_NTID, SIM_K_NCTAID, SIM_K_DYNAMIC, SIM_K_DYNSIZE,
       SIM_K_CLUSTER, SIM_K_NCLUSTER, SIM_K_CLUSTER_SIZE, SIM_K_GRID_BARRIER };

typedef struct sim_constant {
  uint8_t kind, size, width, sext;
  uint32_t off;           /* in the constants' area */
  uint64_t value;         /* value, parameter's offset, dimension, addend */
} sim_constant;

/* A function that is called by itself, however far around: what one call of it keeps on the caller's stack. */
typedef struct sim_saved { uint32_t off, count, bytes; } sim_saved;      /* registers: bytes of a lane, 0: predicates */
typedef struct sim_frame {
  uint32_t first, end;    /* of the function's list of saved registers */
  uint32_t local, size;   /* bytes of local memory */
  uint32_t registers;     /* bytes of a lane's registers, a byte for each predicate */
  int64_t start;          /* its first instruction */
} sim_frame;

/* Bytes of a warp's registers. */
typedef struct sim_span { uint32_t off, size; } sim_span;

typedef struct sim_function {
  char *name;             /* as PTX spells it */
  char *plain;            /* for messages */
  size_t args_size;
  sim_insn *code;
  uint32_t count, room;
  struct sim_price *prices;     /* see sim/memory/spent.h */
  sim_ref *extras;        /* operands of instructions that have many */
  uint32_t nextras, extras_room;
  sim_constant *consts;
  uint32_t nconsts, consts_room, consts_size;
  uint32_t regs_size;     /* bytes of registers of one warp */
  uint32_t regs_used;     /* registers of one thread, from the cubin; 0: unknown */
  uint32_t stack;         /* bytes of a thread's local memory, from the cubin: registers that found no room, too */
  uint32_t local_size;    /* bytes of local memory of one thread */
  uint32_t shared_size;   /* static shared memory */
  sim_span *uninitialised;        /* registers that may be read before they are written; see sim/read/uninitialised.c */
  uint32_t nuninitialised;
  sim_frame *frames;      /* functions that are not expanded where they are called; see sim/read/ptx_recurse.c */
  uint32_t nframes, frames_room;
  sim_saved *saved;
  uint32_t nsaved, saved_room;
  uint32_t dynamic_align; /* of the extern array, if there is one */
  uint32_t grain;         /* log2 of the smallest shared access */
  int heap;               /* it allocates memory */
  int lanes;              /* lanes of a warp may race */
  int fences;             /* blocks may wait for each other by fences and flags */
  int speaks;             /* its blocks may speak to each other, by what its instructions say, */
  int in_order;           /* or were seen to do so: its blocks run one after the other; see sim/cores/order.c */
  uint32_t max_threads;   /* .maxntid, .reqntid; 0: none */
  uint32_t cluster[3];    /* .reqnctapercluster; 0: none */
  char *unknown;          /* the first instruction that is not known, or NULL */
  uint32_t unknown_line;
  struct sim_sass *sass;  /* what ptxas made of it, or NULL; see sim/sass/sass.h */
  struct sim_function *next;
} sim_function;

#endif
