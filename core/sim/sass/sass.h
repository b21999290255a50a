/*
** sass.h - what ptxas made of a kernel, and how often each of its instructions would run.
** PTX is executed here, machine code never is; but it is at hand, with a table that says
** which line of the PTX each instruction comes from. How often the PTX was executed, and
** where the machine code jumps, say together how often that would have been.
*/
#ifndef CAWB_SIM_SASS_SASS_H
#define CAWB_SIM_SASS_SASS_H

#include "sim/sass/elf_file.h"
#include "sim/exec/exec.h"
#include "sim/parse/module.h"

#define SIM_SASS_NOWHERE UINT32_MAX

enum { SIM_SASS_PLAIN, SIM_SASS_JUMP, SIM_SASS_CALL, SIM_SASS_LEAVE,
       SIM_SASS_OTHER };        /* control, and belongs to no line of the PTX */

/* What data passes through: arithmetic of floats, which ptxas may rearrange; accesses, barriers. */
enum { SIM_SASS_WEAK = 1, SIM_SASS_STRONG };

/* A jump that is taken only, or always but, by warps whose lanes came apart unforeseen. */
enum { SIM_SASS_RARELY = 1, SIM_SASS_MOSTLY };

typedef struct sim_sass_insn {
  uint32_t line;                /* of the PTX; 0: unknown */
  uint32_t target;              /* of a jump or a call: the number of an instruction */
  uint8_t kind, guarded, rare, evidence;
  uint8_t local;                /* words of local memory that a lane loads or stores */
} sim_sass_insn;

typedef struct sim_sass_block {
  uint32_t first, last;         /* instructions: from, and the one behind */
  uint32_t loop, depth;         /* the innermost loop's first instruction, or NOWHERE; loops around */
  int cold;                     /* taken never to be executed */
} sim_sass_block;

/* From block to block; to NOWHERE, out of the kernel. A call comes back to the next block. */
typedef struct sim_sass_edge { uint32_t from, to; int call; } sim_sass_edge;

typedef struct sim_sass {
  sim_sass_insn *code;
  sim_sass_block *blocks;
  sim_sass_edge *edges;
  uint32_t count, nblocks, nedges;
  int locals;                   /* there are accesses to local memory */
} sim_sass;

/* cubin.c: note the registers that each kernel needs, where the cubin tells. */
void sim_cubin_read(cawb_module *m, const void *cubin, size_t size);

/* Of every kernel of the module that the cubin has. What is odd or missing is left NULL. */
void sim_sass_read(cawb_module *m, const void *cubin, size_t size);
void sim_sass_free(sim_sass *s);

/* lines.c: the lines of the instructions in the section numbered `text` */
void sim_sass_lines(const sim_elf *m, unsigned text, sim_sass *s);

/* graph.c: blocks and edges; 0 when there are too many, or no memory */
int sim_sass_graph(sim_sass *s);

/* count.c: warp instructions of the blocks that were executed; negative: not known. And what of them accesses local
   memory: how often, and words of a lane. */
typedef struct sim_sass_counts { double issued, locals, words; } sim_sass_counts;
sim_sass_counts sim_sass_issued(const sim_exec *x);

/* flow.c: executions of each block. `times` has those that are known, NaN the others; `guess`
   is what an unknown one is taken to be where its neighbours do not tell. 0: no memory. */
int sim_sass_flow(const sim_sass *s, double entries, const double *guess, double *times);

#endif
