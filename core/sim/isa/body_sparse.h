/*
** body_sparse.h - products whose first factor is half zeros: mma.sp. Of each four columns of a row of A two are there, and
** metadata has two bits for each that say which; of tf32, whose elements are taken as two halves, one of two. The terms
** that are there are added up as those of a dense product of that many.
**
** Of a row the chunks of 16 bits of metadata stand one behind the other in the lanes that the selector names (`mode`):
** row g in the lower half of a register of the g-th four lanes, row g + 8 in the upper half.
*/

/* Which of the `k` rows of B the element in column `at` of what is there of A's row belongs to. */
static unsigned sparse_column(const sim_warp *w, const sim_insn *in, sim_ref metadata, unsigned row, unsigned at) {
  unsigned tf32 = in->type[1] == 't', chunk = tf32 ? at : at / 2, deep = in->shape.k == (tf32 ? 16 : 32);
  unsigned lane = row % 8 * 4 + (deep ? in->mode * 2u + chunk / 4 : in->mode);
  uint32_t bits = (uint32_t)lane_of(w, metadata, 4, lane) >> (row / 8 * 16 + chunk % 4 * 4);
  return tf32 ? chunk * 2 + (bits >> 1 & 1) : chunk * 4 + (bits >> at % 2 * 2 & 3);
}

/* One row of A by the rows of B that it names. */
static void sparse_row(const sim_warp *w, const sim_insn *in, sim_ref metadata, unsigned row, const double *a,
                       const double *b, double *c) {
  unsigned n = in->shape.n, k = in->shape.k / 2u;
  double chosen[MMA_MOST * MMA_MOST];
  dot_kind kind = dot_of(in, k);
  for (unsigned at = 0; at < k; at++)
    memcpy(chosen + at * n, b + sparse_column(w, in, metadata, row, at) * n, n * sizeof *b);
  dot_product(&kind, c + row * n, a + row * k, chosen, 1, k, n);
}

static int op_mma_sp(sim_warp *w, const sim_insn *in) {
  double a[MMA_MOST * MMA_MOST], b[MMA_MOST * MMA_MOST], c[MMA_MOST * MMA_MOST];
  if (!whole_warp(w)) return SIM_WAIT_WARP;
  mma_shape s = shape_of_mma(w, in), stored = s;
  stored.k = s.k / 2;
  stored.a = s.a / 2;
  const sim_ref *metadata = s.at + in->shape.registers - 1;
  mma_read(w, &stored, 0, 0, in->type[1], s.at + s.d, stored.a, a, NULL);
  mma_read(w, &s, 0, 1, in->type[2], s.at + s.d + stored.a, s.b, b, NULL);
  mma_read(w, &s, 0, 2, in->type[3], s.at + s.d + stored.a + s.b, s.c, c, NULL);
  for (unsigned row = 0; row < s.m; row++) sparse_row(w, in, *metadata, row, a, b, c);
  mma_write(w, &s, 0, in->type[0], c, NULL);
  return SIM_NEXT;
}
