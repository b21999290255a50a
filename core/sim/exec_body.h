/*
** exec_body.h - the executor: included by exec_*.c, which define SIM_ISA and
** turn on an instruction set. Contraction is off, so that every set gives the
** same bits; fma is only ever asked for by name.
*/
#include <stdio.h>

#include "body.h"

#include "body_int.h"
#include "body_float.h"
#include "body_half.h"
#include "body_compare.h"
#include "body_convert.h"
#include "body_packed.h"
#include "body_memory.h"
#include "body_race.h"
#include "body_cache.h"
#include "body_unset.h"
#include "body_global.h"
#include "body_shadow.h"
#include "body_lookup.h"
#include "body_shape.h"
#include "body_shared.h"
#include "body_atomic.h"
#include "body_warp.h"
#include "body_cluster.h"
#include "body_async.h"
#include "body_bulk.h"
#include "body_matrix.h"
#include "body_dot.h"
#include "body_tensor.h"
#include "body_wgmma.h"
#include "body_warpgroup.h"
#include "body_straight.h"
#include "body_begin.h"
#include "body_run.h"

static const sim_fn table[] = {
#define X(name, pipe) op_##name,
  SIM_OPS(X)
#undef X
};

const sim_isa SIM_ISA = { SIM_ISA_NAME, table, run_block };
