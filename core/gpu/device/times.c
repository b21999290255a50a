/* times.c - see times.h. */
#include "gpu/device/times.h"

#include <math.h>

/* Tiles that cuBLAS chooses from and what each reaches of the best, ways to cut a sum, of so many terms at least, and what joining the
** parts takes: fitted to half of the tasks of bench/results/torch/baselines_h100.txt. Beyond so many waves a part of one hardly matters. */
static const struct { double rows, columns, reached; } tiles[] = {
  { 128, 128, 1.0 }, { 128, 64, 0.92 }, { 64, 64, 0.75 }, { 32, 64, 0.5 }, { 32, 32, 0.3 },
};
enum { TILES = sizeof tiles / sizeof *tiles, MOST_PARTS = 8, LEAST_TERMS = 256, FEW_WAVES = 8 };
static const double join_seconds = 2e-6;

double cawb_times_product(double rate, double sms, double count, double m, double n, double k) {
  double best = HUGE_VAL;
  for (int t = 0; t < TILES; t++)
    for (int parts = 1; parts <= MOST_PARTS && (parts == 1 || k / parts >= LEAST_TERMS); parts *= 2) {
      double waves = count * ceil(m / tiles[t].rows) * ceil(n / tiles[t].columns) * parts / sms;
      double one = 2 * tiles[t].rows * tiles[t].columns * (k / parts) / (rate / sms * tiles[t].reached);
      if (waves < FEW_WAVES) waves = ceil(waves);
      best = fmin(best, waves * one + (parts > 1 ? join_seconds : 0));
    }
  return best;
}

double cawb_times_left_over(double all, double dirty, double fetched, double stored) {
  return dirty * fmin(fetched, all) - fmin(stored, dirty * all);
}

double cawb_times_norm(const double *bounds, int n, double p) {
  double longest = 0, sum = 0;
  for (int i = 0; i < n; i++) longest = fmax(longest, bounds[i]);
  if (!(longest > 0)) return 0;
  for (int i = 0; i < n; i++) sum += pow(bounds[i] / longest, p);
  return longest * pow(sum, 1 / p);
}
