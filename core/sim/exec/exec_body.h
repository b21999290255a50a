/*
** exec_body.h - the executor: included by exec_*.c, which define SIM_ISA and
** turn on an instruction set. Contraction is off, so that every set gives the
** same bits; fma is only ever asked for by name.
*/
#include <stdio.h>

#include "sim/exec/body.h"

#include "sim/exec/body_int.h"
#include "sim/exec/body_float.h"
#include "sim/exec/body_half.h"
#include "sim/exec/body_compare.h"
#include "sim/exec/body_convert.h"
#include "sim/exec/body_packed.h"
#include "sim/memory/body_memory.h"
#include "sim/watch/body_race.h"
#include "sim/memory/body_cache.h"
#include "sim/watch/body_unset.h"
#include "sim/memory/body_global.h"
#include "sim/watch/body_shadow.h"
#include "sim/exec/body_lookup.h"
#include "sim/memory/body_shape.h"
#include "sim/memory/body_shared.h"
#include "sim/exec/body_atomic.h"
#include "sim/exec/body_warp.h"
#include "sim/exec/body_cluster.h"
#include "sim/memory/body_async.h"
#include "sim/memory/body_bulk.h"
#include "sim/exec/body_matrix.h"
#include "sim/exec/body_dot.h"
#include "sim/exec/body_tensor.h"
#include "sim/exec/body_wgmma.h"
#include "sim/exec/body_warpgroup.h"
#include "sim/exec/body_stretches.h"
#include "sim/exec/body_begin.h"
#include "sim/exec/body_run.h"

static const sim_fn table[] = {
#define X(name, pipe, traits) op_##name,
  SIM_OPS(X)
#undef X
};

const sim_isa SIM_ISA = { SIM_ISA_NAME, table, run_block };
