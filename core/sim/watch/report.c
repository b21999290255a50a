/* report.c - a kernel's fault or race in words. */
#include "sim/watch/report.h"

#include "sim/exec/fault.h"
#include "sim/exec/request.h"
#include "sim/instructions/ops.h"

#include <stdio.h>
#include <string.h>

static void thread_at(const sim_exec *x, const unsigned *at, unsigned warp, unsigned lane, char *out, size_t room) {
  const unsigned *b = x->step->block;
  unsigned t = warp * SIM_LANES + lane;
  snprintf(out, room, "block (%u,%u,%u) thread (%u,%u,%u)", at[0], at[1], at[2], t % b[0], t / b[0] % b[1],
           t / b[0] / b[1]);
}

static void thread_of(const sim_exec *x, unsigned warp, unsigned lane, char *out, size_t room) {
  thread_at(x, x->block, warp, lane, out, room);
}

/* Where a global address is, as seen from the nearest tensor. */
static void global_place(const sim_exec *x, const sim_fault *f, char *out, size_t room) {
  const sim_region *r = sim_region_near(x->device, f->addr);
  uint64_t after = r != NULL ? f->addr - (r->base + r->size) : 0;
  if (f->addr < 4096) snprintf(out, room, "at address %llu: a null pointer", (unsigned long long)f->addr);
  else if (r == NULL) snprintf(out, room, "at address 0x%llx, where nothing is", (unsigned long long)f->addr);
  else if (f->addr < r->base)
    snprintf(out, room, "%llu bytes before the start of %s (%zu bytes)",
             (unsigned long long)(r->base - f->addr), r->label, r->size);
  else if (f->addr >= r->base + r->size)
    snprintf(out, room, "%llu bytes past the end of %s (%zu bytes)", (unsigned long long)after, r->label,
             r->size);
  else
    snprintf(out, room, "from %llu bytes before the end of %s (%zu bytes) to beyond it",
             (unsigned long long)(0 - after), r->label, r->size);
}

static void address_place(const sim_exec *x, const sim_fault *f, char *out, size_t room) {
  if (f->space == SIM_SHARED)
    snprintf(out, room, "at byte %llu of the block's %u bytes of shared memory", (unsigned long long)f->addr,
             x->shared_size);
  else if (f->space == SIM_LOCAL)
    snprintf(out, room, "at byte %llu of the thread's %u bytes of local memory", (unsigned long long)f->addr,
             x->function->local_size);
  else if (f->space == SIM_PARAM)
    snprintf(out, room, "at byte %llu of the kernel's %zu bytes of parameters", (unsigned long long)f->addr,
             x->function->args_size);
  else global_place(x, f, out, room);
}

static cawb_status report_address(const sim_exec *x, const char *at, const char *who, cawb_err *err) {
  static const char *const how[] = { "read", "write", "atomic access" };
  const sim_fault *f = &x->fault;
  char where[160];
  address_place(x, f, where, sizeof where);
  if (f->kind == SIM_FAULT_ALIGN)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: misaligned %s of %u bytes at address 0x%llx "
                     "(not a multiple of %u), by %s", at, how[f->write], f->size,
                     (unsigned long long)f->addr, f->size, who);
  return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: %s of %u bytes, %s, by %s", at, how[f->write], f->size,
                   where, who);
}

cawb_status sim_fault_report(const sim_exec *x, cawb_err *err) {
  const sim_fault *f = &x->fault;
  char at[160], who[96];
  sim_place(at, sizeof at, x->function->plain, f->insn->line);
  thread_of(x, f->warp, f->lane, who, sizeof who);
  switch (f->kind) {
    case SIM_FAULT_ADDRESS: case SIM_FAULT_ALIGN: return report_address(x, at, who, err);
    case SIM_FAULT_ASSERT:
      return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: an assertion failed, in %s", at, who);
    case SIM_FAULT_BARRIER: return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: %s (%s)", at, f->text, who);
    case SIM_FAULT_READONLY:
      return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: write to memory that cannot be written, by %s", at, who);
    default: return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: trap, by %s", at, who);
  }
}

/* "byte 12 of shared memory", "byte 12 of outputs[1]" */
static void race_place(const sim_exec *x, char *out, size_t room) {
  if (x->race.space == SIM_LOCAL) {
    snprintf(out, room, "byte %llu of its local memory", (unsigned long long)x->race.place);
    return;
  }
  const sim_region *r = x->race.space == SIM_GLOBAL ? sim_region_at(x->device, x->race.place) : NULL;
  if (r != NULL)
    snprintf(out, room, "byte %llu of %s", (unsigned long long)(x->race.place - r->base), r->label);
  else snprintf(out, room, "byte %llu of shared memory", (unsigned long long)x->race.place);
}

static const char *const does[] = { "reads", "writes", "updates" };
static const char *const did[] = { "read", "wrote", "updated" };

/* Whether the access loads an element that the same thread stores next, before anything else begins: bins[i] += 1. */
static int loads_to_update(const sim_exec *x) {
  const sim_insn *load = x->race.at, *end = x->function->code + x->function->count;
  if (x->race.how != READ || !sim_op_has(load->op, OP_ELEMENTS)) return 0;
  for (const sim_insn *in = load + 1; in < end && !sim_op_has(in->op, OP_JUMPS | OP_EXITS | OP_BARRIER_BLOCK); in++)
    if (in->line == load->line && (sim_ops[in->op].traits & OP_STORE) == OP_STORE && in->offset == load->offset &&
        in->r[1].base == load->r[1].base && in->r[1].off == load->r[1].off) return 1;
  return 0;
}

static int say_warps(const sim_exec *x, const char *at, const char *where, char *out, size_t room) {
  char other[32], line[32] = "";
  const unsigned *b = x->race.block;
  if (x->race.other_warp < 0) snprintf(other, sizeof other, "several warps");
  else snprintf(other, sizeof other, "warp %d", x->race.other_warp);
  if (x->race.other != 0) snprintf(line, sizeof line, " (line %u)", x->race.other);
  return snprintf(out, room, "%s memory: %s: warp %u %s %s, which %s %s%s %s, in block (%u,%u,%u)",
                  x->race.space == SIM_GLOBAL ? "global" : "shared", at, x->race.warp, does[x->race.how], where, other,
                  did[x->race.other_how], line, loads_to_update(x) ? "too, and each writes its own sum back: "
                  "use atomicAdd() or the like" : "with no __syncthreads() between", b[0], b[1], b[2]);
}

static int say_in_warp(const sim_exec *x, const char *at, const char *where, char *out, size_t room) {
  char other[32], line[32] = "";
  const unsigned *b = x->race.block;
  if (x->race.other_warp < 0) snprintf(other, sizeof other, "several lanes");
  else snprintf(other, sizeof other, "lane %d", x->race.other_warp);
  if (x->race.other != 0) snprintf(line, sizeof line, " (line %u)", x->race.other);
  return snprintf(out, room, "shared memory: %s: lane %u of warp %u %s %s, which %s %s%s with no __syncwarp() "
                  "between, in block (%u,%u,%u)", at, x->race.lane, x->race.warp, does[x->race.how], where, other,
                  did[x->race.other_how], line, b[0], b[1], b[2]);
}

/* Masks and barriers that are misused. */
static int say_misuse(const sim_exec *x, const char *at, char *out, size_t room) {
  char who[96];
  unsigned lanes = (unsigned)x->race.place;
  thread_at(x, x->race.block, x->race.warp, x->race.lane, who, sizeof who);
  if (x->race.kind == SIM_RACE_MASK)
    return snprintf(out, room, "misused mask: %s: %s whose mask 0x%08x does not name the lane that executes it (%u), "
                    "by %s", at, x->race.space == SIM_OP_bar_warp ? "a __syncwarp()" : "a shuffle, a vote or the like", lanes,
                    x->race.lane, who);
  return snprintf(out, room, "misused barrier: %s: lanes 0x%08x of warp %u come to this __syncthreads(), the others of "
                  "the warp to another one: all threads must come to the same one, by %s", at, lanes, x->race.warp, who);
}

static int say_lanes(const sim_exec *x, const char *at, const char *where, char *out, size_t room) {
  const unsigned *b = x->race.block;
  return snprintf(out, room, "%s memory: %s: lanes of warp %u write different values to %s at once "
                  "and any may stay, in block (%u,%u,%u)",
                  x->race.space == SIM_GLOBAL ? "global" : "shared", at, x->race.warp, where,
                  b[0], b[1], b[2]);
}

static int say_blocks(const sim_exec *x, const char *at, const char *where, char *out, size_t room) {
  const unsigned *b = x->race.block, *g = x->step->grid, s = x->race.other;
  if (x->race.how == 1 && x->race.other_how == 0)
    return snprintf(out, room, "global memory: %s: block (%u,%u,%u) writes %s, which block (%u,%u,%u) read in the same "
                    "launch; %s", at, b[0], b[1], b[2], where, s % g[0], s / g[0] % g[1], s / g[0] / g[1],
                    x->order != NULL ? "no fence and flag put them in order" : "blocks run in any order");
  return snprintf(out, room, "global memory: %s: block (%u,%u,%u) %s %s, where block (%u,%u,%u) wrote %s; %s", at, b[0], b[1], b[2], does[x->race.how], where,
                  s % g[0], s / g[0] % g[1], s / g[0] / g[1], x->race.how == 1 ? "another value"
                  : loads_to_update(x) ? "too, and each writes its own sum back: use atomicAdd() or the like"
                  : x->race.how == 0 ? "in the same launch" : "without an atomic",
                  x->order != NULL ? "no fence and flag put them in order" : "blocks run in any order");
}

static int say_ahead(const sim_exec *x, const char *at, const char *where, char *out, size_t room) {
  const unsigned *b = x->race.block;
  return snprintf(out, room, "global memory: %s: warp %u %s %s, which a launch before it %s and may not have ended: wait for that with "
                  "griddepcontrol.wait (cudaGridDependencySynchronize()) first, in block (%u,%u,%u)", at, x->race.warp,
                  does[x->race.how], where, did[x->race.other_how], b[0], b[1], b[2]);
}

static int say_copy(const sim_exec *x, const char *at, const char *where, char *out, size_t room) {
  const unsigned *b = x->race.block;
  return snprintf(out, room, "shared memory: %s: warp %u %s %s, to where an asynchronous copy is under way: "
                  "wait for it (cp.async.wait_group, or its barrier object) and call __syncthreads(), in block "
                  "(%u,%u,%u)", at, x->race.warp, does[x->race.how], where, b[0], b[1], b[2]);
}

/* "; line 7 branches on it" */
static void say_use(const sim_exec *x, char *out, size_t room) {
  const sim_insn *in = x->race.user;
  char line[32] = "the kernel", name[48];
  out[0] = '\0';
  if (in == NULL) return;
  if (in->line != 0) snprintf(line, sizeof line, "line %u", in->line);
  snprintf(name, sizeof name, "uses it in '%s'", sim_ops[in->op].name);
  snprintf(out, room, "; %s %s", line, x->race.use != NULL ? x->race.use : name);
}

static int say_uninitialised(const sim_exec *x, const char *at, const char *where, char *out, size_t room) {
  char who[96], use[96];
  thread_at(x, x->race.block, x->race.warp, x->race.other, who, sizeof who);
  say_use(x, use, sizeof use);
  return snprintf(out, room, "uninitialised memory: %s: read of %s, to which nothing was written, by %s%s", at, where, who, use);
}

/* What goes on beside warpgroup products. */
static int say_group(const sim_exec *x, const char *at, const char *where, char *out, size_t room) {
  const unsigned *b = x->race.block, warp = x->race.warp, line = x->race.other;
  if (x->race.kind == SIM_RACE_PRODUCT)
    return snprintf(out, room, "shared memory: %s: warp %u %s %s, which a warpgroup product may still read: let "
                    "wgmma.wait_group and a barrier come before, in block (%u,%u,%u)", at, warp,
                    does[x->race.how], where, b[0], b[1], b[2]);
  if (x->race.kind == SIM_RACE_PROXY)
    return snprintf(out, room, "shared memory: %s: a warpgroup product reads %s, which warp %u wrote (line %u) without "
                    "fence.proxy.async: every thread that writes needs it, between its stores and the barrier, in "
                    "block (%u,%u,%u)", at, where, x->race.other_warp, line, b[0], b[1], b[2]);
  if (x->race.kind == SIM_RACE_ORDER)
    return snprintf(out, room, "register memory: %s: a warpgroup product with no wgmma.fence before it, by warp %u of "
                    "block (%u,%u,%u)", at, warp, b[0], b[1], b[2]);
  return snprintf(out, room, "register memory: %s: warp %u reads an accumulator of the warpgroup product of line %u, "
                  "which is under way: wgmma.commit_group and wgmma.wait_group must come before, in block (%u,%u,%u)", at, warp,
                  line, b[0], b[1], b[2]);
}

/* Begins with "shared memory: ", "global memory: ", "register memory: ", "uninitialised memory: ", "misused mask: " or
   "misused barrier: ". */
void sim_race_report(const sim_exec *x, cawb_report *report) {
  char at[160], where[96];
  size_t room = sizeof report->race;
  int n;
  sim_place(at, sizeof at, x->function->plain, x->race.line);
  race_place(x, where, sizeof where);
  if (x->race.kind == SIM_RACE_WARPS) n = say_warps(x, at, where, report->race, room);
  else if (x->race.kind == SIM_RACE_LANES) n = say_lanes(x, at, where, report->race, room);
  else if (x->race.kind == SIM_RACE_UNINITIALISED) n = say_uninitialised(x, at, where, report->race, room);
  else if (x->race.kind == SIM_RACE_COPY) n = say_copy(x, at, where, report->race, room);
  else if (x->race.kind == SIM_RACE_IN_WARP) n = say_in_warp(x, at, where, report->race, room);
  else if (x->race.kind == SIM_RACE_MASK || x->race.kind == SIM_RACE_DIVERGED) n = say_misuse(x, at, report->race, room);
  else if (x->race.kind == SIM_RACE_AHEAD) n = say_ahead(x, at, where, report->race, room);
  else if (x->race.kind >= SIM_RACE_PRODUCT) n = say_group(x, at, where, report->race, room);
  else n = say_blocks(x, at, where, report->race, room);
  if (n >= (int)room) memcpy(report->race + room - 4, "...", 4);
}
