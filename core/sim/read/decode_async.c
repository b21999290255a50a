/* decode_async.c - copies that go on by themselves, barrier objects, clusters. */
#include "sim/read/decode.h"

#include <string.h>

static void note_words(sim_function *f) { if (f->grain > 2) f->grain = 2; }

/* An address in brackets as a register and an offset, or a constant. */
static int bracket(ptx_parser *p, const ptx_operand *o, sim_ref *r, uint8_t *wide, int64_t *offset) {
  if (o->kind != PTX_O_MEMORY) return 0;
  *wide = 1;
  *offset = 0;
  if (o->symbol != 0) *r = ptx_symbol_address(p, o->symbol, o->offset, 8);
  else if (o->bytes == 0) *r = ptx_value(p, 8, (uint64_t)o->offset);
  else {
    *r = o->ref;
    *wide = o->bytes == 8;
    *offset = o->offset;
  }
  return 1;
}

/* The same as a whole operand: where there is an offset, it is added into a register first. */
static int pointer(ptx_parser *p, const ptx_statement *s, unsigned i, sim_ref *out, uint8_t *bytes) {
  uint8_t wide;
  int64_t offset;
  ptx_operand sink = { .kind = PTX_O_SINK };
  if (!bracket(p, ptx_operand_at(p, s, i), out, &wide, &offset)) return 0;
  *bytes = wide ? 8 : 4;
  if (offset == 0) return 1;
  sim_ref sum = ptx_target_of(p, &sink, *bytes), by = ptx_value(p, *bytes, (uint64_t)offset);
  sim_insn *in = ptx_emit(p, wide ? SIM_OP_add_b64 : SIM_OP_add_b32, s);
  in->r[0] = sum;
  in->r[1] = *out;
  in->r[2] = by;
  *out = sum;
  return 1;
}

/* ------------------------------------------------------------------ cp.async */

/* cp.async.ca.shared.global [to], [from], bytes {, source bytes | predicate} {, policy}. */
static int decode_copy(ptx_parser *p, const ptx_statement *s) {
  uint8_t wide, from_wide;
  int64_t offset, from_offset;
  sim_ref to, from;
  if (s->count < 3 || !ptx_word_at(s, "global")) return 0;
  uint64_t bytes = ptx_immediate(p, s, 2);
  if ((bytes != 4 && bytes != 8 && bytes != 16) || !bracket(p, &s->op[0], &to, &wide, &offset) ||
      !bracket(p, &s->op[1], &from, &from_wide, &from_offset)) return 0;
  sim_insn *in = ptx_emit(p, SIM_OP_cp_async, s);
  in->r[1] = from;
  in->offset = from_offset;
  in->space = SIM_GLOBAL;
  in->r[2] = to;
  in->wide = (uint8_t)(from_wide << 1 | wide << 2);
  in->to_offset = (uint32_t)offset;
  in->width = 4;
  in->vec = (uint8_t)(bytes / 4);
  const ptx_operand *o = s->count > 3 ? &s->op[3] : NULL;
  if (o == NULL || (o->kind == PTX_O_REG && o->bytes == 8)) return 1;     /* a cache policy */
  in->mode = o->kind == PTX_O_REG && o->bytes == 0 ? 2 : 1;
  in->negate = (uint16_t)o->negate;
  in->r[3] = ptx_source(p, s, 3, in->mode == 2 ? 0 : 4, NULL);
  return 1;
}

static int decode_group(ptx_parser *p, const ptx_statement *s, int bulk) {
  if (ptx_word_at(s, "commit_group")) {
    ptx_emit(p, bulk ? SIM_OP_nop : SIM_OP_cp_commit, s);
    return 1;
  }
  int all = ptx_word_at(s, "wait_all") != 0;
  if (!all && !ptx_word_at(s, "wait_group")) return 0;
  uint64_t keep = all ? UINT32_MAX : ptx_immediate(p, s, 0);
  sim_insn *in = ptx_emit(p, bulk ? SIM_OP_nop : SIM_OP_cp_wait, s);
  in->value = keep > UINT32_MAX ? UINT32_MAX : keep;
  return 1;
}

/* ------------------------------------------------------------------ cp.async.bulk */

static uint8_t element_of(const ptx_statement *s, uint8_t *code) {
  static const struct { const char *name; uint8_t bytes, code; } types[] = {
    { "f16", 2, 'h' }, { "bf16", 2, 'b' }, { "b32", 4, 'u' }, { "u32", 4, 'u' }, { "s32", 4, 's' },
    { "b64", 8, 'u' }, { "u64", 8, 'u' }, { "s64", 8, 's' }, { "f32", 4, 'f' }, { "f64", 8, 'f' }
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (ptx_word_at(s, types[i].name)) {
      *code = types[i].code;
      return types[i].bytes;
    }
  return 0;
}

static int reduction_of(const ptx_statement *s) {
  static const char *const words[] = { "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec" };
  for (int i = 0; i < (int)(sizeof words / sizeof *words); i++) if (ptx_word_at(s, words[i])) return i;
  return -1;
}

/* [to], [from], bytes {, [barrier]} {, blocks} {, policy}. */
static int decode_bulk(ptx_parser *p, const ptx_statement *s, int reduce) {
  sim_ref r[5] = { { SIM_UNUSED, 0 }, { SIM_UNUSED, 0 }, { SIM_UNUSED, 0 }, { SIM_UNUSED, 0 }, { SIM_UNUSED, 0 } };
  uint8_t to_bytes, from_bytes, barrier_bytes = 4, code = 'u', element = 0;
  unsigned to = 0, spaces[2] = { 0, 0 };
  for (unsigned i = 1; i < s->words && to < 2; i++)       /* where to, then where from */
    if (ptx_word_is(&s->word[i], "global")) spaces[to++] = SIM_GLOBAL;
    else if (s->word[i].size > 6 && memcmp(s->word[i].text, "shared", 6) == 0) spaces[to++] = SIM_SHARED;
  if (to != 2 || s->count < 3 || !pointer(p, s, 0, &r[0], &to_bytes) || !pointer(p, s, 1, &r[1], &from_bytes))
    return 0;
  r[2] = ptx_source(p, s, 2, 4, NULL);
  int store = spaces[0] == SIM_GLOBAL, send = spaces[1] == SIM_SHARED && !store;
  int cast = ptx_word_at(s, "multicast::cluster") != 0, op = reduce ? reduction_of(s) : 0;
  if (reduce && (!store || op < 0 || (element = element_of(s, &code)) == 0)) return 0;
  if (!store && (s->count < 4 || !pointer(p, s, 3, &r[3], &barrier_bytes))) return 0;
  if (cast) r[4] = ptx_source(p, s, 4, 4, NULL);
  sim_insn *in = ptx_emit(p, reduce ? SIM_OP_bulk_reduce : store ? SIM_OP_bulk_store
                           : send ? SIM_OP_bulk_send : SIM_OP_bulk_load, s);
  memcpy(in->r, r, sizeof r);
  in->wide = (uint8_t)((to_bytes == 8) | (from_bytes == 8) << 1 | (barrier_bytes == 8) << 3);
  in->mode = (uint8_t)(reduce ? op : cast);
  in->type[0] = code;
  in->width = element;
  return 1;
}

static int decode_cp(ptx_parser *p, const ptx_statement *s) {
  int reduce = ptx_word_is(&s->word[1], "reduce"), bulk = ptx_word_at(s, "bulk") != 0;
  note_words(p->f);
  if (bulk && ptx_word_at(s, "prefetch")) {
    ptx_emit(p, SIM_OP_nop, s);
    return 1;
  }
  if (ptx_word_at(s, "commit_group") || ptx_word_at(s, "wait_group") || ptx_word_at(s, "wait_all"))
    return decode_group(p, s, bulk);
  if (bulk) return decode_bulk(p, s, reduce);
  if (!ptx_word_at(s, "mbarrier")) return decode_copy(p, s);
  int64_t offset;
  sim_ref r;
  uint8_t wide;
  if (!bracket(p, ptx_operand_at(p, s, 0), &r, &wide, &offset)) return 0;
  sim_insn *in = ptx_emit(p, SIM_OP_cp_arrive, s);
  in->r[1] = r;
  in->wide = (uint8_t)(wide << 1);
  in->offset = offset;
  in->mode = ptx_word_at(s, "noinc") != 0;
  return 1;
}

/* ---------------------------------------------------------- barrier objects */

static sim_insn *emit_barrier(ptx_parser *p, const ptx_statement *s, int op, unsigned at) {
  int64_t offset;
  sim_ref r;
  uint8_t wide;
  if (!bracket(p, ptx_operand_at(p, s, at), &r, &wide, &offset)) return NULL;
  sim_insn *in = ptx_emit(p, op, s);
  in->r[1] = r;
  in->wide = (uint8_t)(wide << 1);
  in->offset = offset;
  return in;
}

/* mbarrier.arrive{.expect_tx} {state | _,} [a] {, count | bytes}. */
static int decode_arrive(ptx_parser *p, const ptx_statement *s) {
  const ptx_operand *first = ptx_operand_at(p, s, 0);
  int told = first->kind != PTX_O_MEMORY, mode = 0;
  unsigned at = told ? 1 : 0;
  sim_insn *in = emit_barrier(p, s, SIM_OP_mbarrier_arrive, at);
  if (in == NULL) return 0;
  if (ptx_word_at(s, "arrive_drop")) mode |= ARRIVE_DROPS;
  if (ptx_word_at(s, "noComplete")) mode |= ARRIVE_OPEN;
  if (ptx_word_at(s, "expect_tx")) mode |= ARRIVE_EXPECTS;
  else if (s->count > at + 1) mode |= ARRIVE_COUNTS;
  if (mode & (ARRIVE_EXPECTS | ARRIVE_COUNTS)) in->r[2] = ptx_source(p, s, at + 1, 4, NULL);
  if (told && first->kind == PTX_O_REG) {
    mode |= ARRIVE_STATE;
    in->r[0] = ptx_target(p, s, 0, 8);
  }
  in->flags = (uint8_t)mode;
  return 1;
}

/* mbarrier.test_wait p, [a], state {, hint}; .parity: p, [a], parity. */
static int decode_wait(ptx_parser *p, const ptx_statement *s) {
  int parity = ptx_word_at(s, "parity") != 0;
  sim_insn *in = emit_barrier(p, s, SIM_OP_mbarrier_wait, 1);
  if (in == NULL) return 0;
  in->r[0] = ptx_target(p, s, 0, 0);
  in->r[2] = ptx_source(p, s, 2, parity ? 4 : 8, NULL);
  in->mode = (uint8_t)parity;
  return 1;
}

static int decode_mbarrier(ptx_parser *p, const ptx_statement *s) {
  sim_insn *in = NULL;
  note_words(p->f);
  if (ptx_word_at(s, "pending_count")) {
    in = ptx_emit(p, SIM_OP_mbarrier_pending, s);
    in->r[0] = ptx_target(p, s, 0, 4);
    in->r[1] = ptx_source(p, s, 1, 8, NULL);
    return 1;
  }
  if (ptx_word_at(s, "arrive") || ptx_word_at(s, "arrive_drop")) return decode_arrive(p, s);
  if (ptx_word_at(s, "test_wait") || ptx_word_at(s, "try_wait")) return decode_wait(p, s);
  if (ptx_word_at(s, "inval")) return emit_barrier(p, s, SIM_OP_mbarrier_inval, 0) != NULL;
  int init = ptx_word_at(s, "init") != 0;
  if (!init && !ptx_word_at(s, "expect_tx") && !ptx_word_at(s, "complete_tx")) return 0;
  in = emit_barrier(p, s, init ? SIM_OP_mbarrier_init : SIM_OP_mbarrier_tx, 0);
  if (in == NULL) return 0;
  in->r[2] = ptx_source(p, s, 1, 4, NULL);
  in->mode = ptx_word_at(s, "complete_tx") != 0;
  return 1;
}

/* ------------------------------------------------------------------ clusters */

/* st.async.shared::cluster.mbarrier::complete_tx::bytes{.v2, .v4}.type [a], b, [barrier]. */
static int decode_store(ptx_parser *p, const ptx_statement *s) {
  static const uint8_t slots[] = { 0, 2, 3, 4 };
  uint8_t code, bytes = element_of(s, &code), barrier_bytes, wide;
  int64_t offset;
  sim_ref barrier, to;
  if (s->count != 3 || bytes < 4 || !pointer(p, s, 2, &barrier, &barrier_bytes) ||
      !bracket(p, &s->op[0], &to, &wide, &offset)) return 0;
  const ptx_operand *o = &s->op[1];
  unsigned n = o->kind == PTX_O_VECTOR ? o->count : 1;
  if (n > 4 || n * bytes > 16) return 0;
  sim_function *f = p->f;
  f->extras = ptx_grow(p, f->extras, f->nextras, &f->extras_room, sizeof *f->extras);
  f->extras[f->nextras++] = barrier;
  sim_insn *in = ptx_emit(p, SIM_OP_st_async, s);
  in->extra = f->nextras - 1;
  in->r[1] = to;
  in->wide = (uint8_t)(wide << 1 | (barrier_bytes == 8) << 5);
  in->offset = offset;
  in->width = in->lane = bytes;
  in->vec = (uint8_t)n;
  for (unsigned k = 0; k < n; k++)
    in->r[slots[k]] = ptx_source_of(p, o->kind == PTX_O_VECTOR ? &s->items[o->first + k] : o, bytes, NULL);
  return 1;
}

/* mapa.shared::cluster.u32 d, a, rank; getctarank d, a. */
static int decode_map(ptx_parser *p, const ptx_statement *s, int rank) {
  unsigned bytes = ptx_word_at(s, "u64") ? 8 : 4;
  sim_insn *in = ptx_emit(p, rank ? SIM_OP_rank_of : SIM_OP_mapa, s);
  in->r[0] = ptx_target(p, s, 0, rank ? 4 : bytes);
  in->r[1] = ptx_source(p, s, 1, bytes, NULL);
  if (!rank) in->r[2] = ptx_source(p, s, 2, 4, NULL);
  in->width = (uint8_t)bytes;
  return 1;
}

int ptx_decode_async(ptx_parser *p, const ptx_statement *s) {
  if (s->words == 0) return 0;
  const ptx_word *base = &s->word[0];
  if (ptx_word_is(base, "cp") && s->words > 1) return decode_cp(p, s);
  if (ptx_word_is(base, "mbarrier")) return decode_mbarrier(p, s);
  if (ptx_word_is(base, "fence") && ptx_word_at(s, "proxy") && ptx_word_at(s, "async") && !ptx_word_at(s, "global")) {
    ptx_emit(p, SIM_OP_fence_proxy, s);
    return 1;
  }
  if (ptx_word_is(base, "mapa")) return decode_map(p, s, 0);
  if (ptx_word_is(base, "getctarank")) return decode_map(p, s, 1);
  if (ptx_word_is(base, "st") && ptx_word_at(s, "async")) return decode_store(p, s);
  if (ptx_word_is(base, "barrier") && ptx_word_at(s, "cluster")) {
    ptx_emit(p, SIM_OP_bar_cluster, s)->mode = ptx_word_at(s, "wait") != 0;
    return 1;
  }
  return 0;
}
