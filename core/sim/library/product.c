/*
** product.c - a matrix product on the CPU: float32 sums, in stretches of k as blocked
** libraries have them, so that long sums err no more than theirs.
*/
#include "sim/library/library.h"

#include <string.h>

enum { ROWS = 4, STRETCH = 128, COLUMNS = 256 };

/* part[r][j] += a[r][i] * b[i][j] for a stretch of i, ROWS rows and some columns. */
static void stretch(float part[ROWS][COLUMNS], const float *const a[ROWS], const float *b,
                    size_t ldb, size_t columns, size_t from, size_t to) {
  for (size_t i = from; i < to; i++) {
    const float *row = b + i * ldb;
    float f0 = a[0][i], f1 = a[1][i], f2 = a[2][i], f3 = a[3][i];
    for (size_t j = 0; j < columns; j++) {
      part[0][j] += f0 * row[j];
      part[1][j] += f1 * row[j];
      part[2][j] += f2 * row[j];
      part[3][j] += f3 * row[j];
    }
  }
}

/* Up to ROWS rows and COLUMNS columns of the result; rows that are not there repeat the first. */
static void tile(float *c, const float *a, const float *b, size_t rows, size_t columns, size_t n,
                 size_t k) {
  const float *at[ROWS];
  float part[ROWS][COLUMNS];
  for (size_t r = 0; r < ROWS; r++) at[r] = a + (r < rows ? r * k : 0);
  for (size_t r = 0; r < rows; r++) memset(c + r * n, 0, columns * sizeof *c);
  for (size_t from = 0; from < k; from += STRETCH) {
    memset(part, 0, sizeof part);
    stretch(part, at, b, n, columns, from, from + STRETCH < k ? from + STRETCH : k);
    for (size_t r = 0; r < rows; r++)
      for (size_t j = 0; j < columns; j++) c[r * n + j] += part[r][j];
  }
}

void sim_product_of(float *c, const float *a, const float *b, size_t m, size_t n, size_t k) {
  for (size_t j = 0; j < n; j += COLUMNS)
    for (size_t i = 0; i < m; i += ROWS)
      tile(c + i * n + j, a + i * k, b + j, m - i < ROWS ? m - i : ROWS,
           n - j < COLUMNS ? n - j : COLUMNS, n, k);
}
