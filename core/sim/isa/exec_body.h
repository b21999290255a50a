/*
** exec_body.h - the executor: included by exec_*.c, which define SIM_ISA and
** turn on an instruction set. Contraction is off, so that every set gives the
** same bits; fma is only ever asked for by name.
*/
#include "sim/access/async.h"
#include "sim/access/global.h"
#include "sim/access/moves.h"
#include "sim/access/operand.h"
#include "sim/access/shared.h"
#include "sim/exec/barrier.h"
#include "sim/exec/block.h"
#include "sim/exec/fault.h"
#include "sim/instructions/functions.h"
#include "sim/exec/groups.h"
#include "sim/exec/warp.h"
#include "sim/isa/half.h"
#include "sim/isa/isas.h"
#include "sim/watch/lanes.h"
#include "sim/watch/order.h"
#include "sim/watch/race.h"
#include "sim/watch/undefined.h"
#include "sim/watch/uninitialised.h"

#include "sim/isa/body_int.h"
#include "sim/isa/body_float.h"
#include "sim/isa/body_half.h"
#include "sim/isa/body_compare.h"
#include "sim/isa/body_convert.h"
#include "sim/isa/body_packed.h"
#include "sim/isa/body_access.h"
#include "sim/isa/body_atomic.h"
#include "sim/isa/body_warp.h"
#include "sim/isa/body_dot.h"
#include "sim/isa/body_tensor.h"
#include "sim/isa/body_sparse.h"
#include "sim/isa/body_wgmma.h"
#include "sim/isa/body_stretches.h"
#include "sim/isa/body_run.h"

static const sim_fn table[] = {
#define X(name, pipe, traits) [SIM_OP_##name] = op_##name,
  SIM_OPS(X)
#undef X
};

const sim_isa SIM_ISA = { SIM_ISA_NAME, table, run_warp, atomic_lanes, atomic_pair, wg_product };
