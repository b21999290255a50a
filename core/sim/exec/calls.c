/*
** calls.c - calls of functions that call themselves (sim/read/ptx_recurse.c). Each lane has a stack: what the
** function's registers and local memory hold is kept there while it is called again, and where to go on.
*/
#include "sim/exec/calls.h"
#include "sim/exec/fault.h"
#include "sim/instructions/functions.h"
#include "sim/exec/lanes.h"

#include <stdlib.h>

/* Bytes of a lane's stack. A GPU has 1 KiB unless told otherwise, of frames that are smaller than these. */
enum { STACK_MOST = 1 << 16 };

typedef struct sim_stack {
  uint32_t room;                /* of each lane */
  uint32_t depth[SIM_LANES];
  unsigned char *bytes;         /* one lane's behind the other */
} sim_stack;

void sim_calls_free(sim_warp *w) {
  if (w->calls != NULL) free(w->calls->bytes);
  free(w->calls);
  w->calls = NULL;
}

void sim_calls_begin(sim_warp *w) {
  if (w->calls != NULL) memset(w->calls->depth, 0, sizeof w->calls->depth);
}

static int grow(sim_warp *w, uint32_t needed) {
  sim_stack *s = w->calls;
  uint32_t room = s->room == 0 ? 1024 : s->room;
  while (room < needed) room *= 2;
  if (room == s->room) return 1;
  unsigned char *bytes = calloc(room, SIM_LANES);
  if (bytes == NULL) return 0;
  for (unsigned l = 0; l < SIM_LANES && s->bytes != NULL; l++)
    memcpy(bytes + (size_t)l * room, s->bytes + (size_t)l * s->room, s->depth[l]);
  free(s->bytes);
  s->bytes = bytes;
  s->room = room;
  return 1;
}

/* A lane's registers of a frame, to `at` or from there. */
static void move_registers(sim_warp *w, const sim_frame *r, unsigned l, unsigned char *at, int keeps) {
  const sim_saved *s = w->exec->function->saved + r->first, *end = w->exec->function->saved + r->end;
  for (; s < end; s++)
    for (uint32_t k = 0; k < s->count; k++) {
      unsigned char *reg = w->base[SIM_REGS] + s->off + (size_t)k * (s->bytes == 0 ? 4u : s->bytes * SIM_LANES);
      if (s->bytes == 0) {
        u32 *bits = (u32 *)(void *)reg;
        if (keeps) *at = *bits >> l & 1;
        else *bits = (*bits & ~(1u << l)) | (uint32_t)*at << l;
        at++;
        continue;
      }
      unsigned each = s->bytes == 16 ? 8 : s->bytes;
      for (unsigned half = 0; half < s->bytes; half += each, at += each) {
        unsigned char *lane = reg + (size_t)half * SIM_LANES + (size_t)l * each;
        memcpy(keeps ? at : lane, keeps ? lane : at, each);
      }
    }
}

/* And its local memory, with what is known of it. */
static void move_local(sim_warp *w, const sim_frame *r, unsigned l, unsigned char *at, int keeps) {
  unsigned char *local = w->local + (size_t)l * w->exec->local_stride + r->local;
  unsigned char *set = w->local_set + (size_t)l * w->exec->local_stride + r->local;
  memcpy(keeps ? at : local, keeps ? local : at, r->size);
  memcpy(keeps ? at + r->size : set, keeps ? set : at + r->size, r->size);
  if (keeps) memset(set, 0, r->size);
}

static uint32_t frame_bytes(const sim_frame *r) { return r->registers + 2 * r->size + 4; }

int op_call(sim_warp *w, const sim_insn *in) {
  const sim_frame *r = &w->exec->function->frames[in->extra];
  uint32_t bytes = frame_bytes(r), deepest = 0, back = w->pc + 1;
  if (w->calls == NULL) w->calls = calloc(1, sizeof *w->calls);
  if (w->calls == NULL) return sim_fault_text(w, in, "out of memory for the calls under way");
  sim_stack *s = w->calls;
  for (unsigned l = 0; l < SIM_LANES; l++)
    if ((w->mask >> l & 1) && s->depth[l] > deepest) deepest = s->depth[l];
  if (deepest + bytes > STACK_MOST) return sim_fault_text(w, in, "calls nest so deep that the thread's stack has no room: recursion without an end?");
  if (!grow(w, deepest + bytes)) return sim_fault_text(w, in, "out of memory for the calls under way");
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    unsigned char *at = s->bytes + (size_t)l * s->room + s->depth[l];
    move_registers(w, r, l, at, 1);
    move_local(w, r, l, at + r->registers, 1);
    memcpy(at + bytes - 4, &back, 4);
    s->depth[l] += bytes;
  }
  w->target = (uint32_t)in->target;
  return SIM_JUMP;
}

/* Lanes that go on at one place; others come here again. */
int op_come_back(sim_warp *w, const sim_insn *in) {
  const sim_frame *r = &w->exec->function->frames[in->extra];
  uint32_t bytes = frame_bytes(r), back, same = 0;
  sim_stack *s = w->calls;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    if (s == NULL || s->depth[l] < bytes) return sim_fault_text(w, in, "a function returns that was not called");
    unsigned char *at = s->bytes + (size_t)l * s->room + s->depth[l] - bytes;
    memcpy(&back, at + bytes - 4, 4);
    if (same != 0 && back != w->target) continue;
    w->target = back;
    same |= 1u << l;
    s->depth[l] -= bytes;
    move_registers(w, r, l, at, 0);
    move_local(w, r, l, at + r->registers, 0);
  }
  w->mask = same;
  return SIM_JUMP;
}

/* `extra` bytes of local memory from `offset` to `to_offset`. */
int op_local_move(sim_warp *w, const sim_insn *in) {
  uint32_t stride = w->exec->local_stride;
  uint64_t from = (uint64_t)in->offset, to = in->to_offset, size = in->extra;
  if (from > stride || to > stride || size > stride - from || size > stride - to)
    return sim_fault_text(w, in, "a call's argument or result is smaller than the function takes it to be");
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    unsigned char *local = w->local + (size_t)l * stride, *set = w->local_set + (size_t)l * stride;
    memmove(local + in->to_offset, local + in->offset, in->extra);
    memmove(set + in->to_offset, set + in->offset, in->extra);
  }
  return SIM_NEXT;
}
