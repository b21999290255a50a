/* budget.c - see budget.h. */
#include "base/store/budget.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

static const char *const names[CAWB_MEANS] = {
  "turns", "seconds", "replies", "tokens", "dollars", "device_seconds", "no_progress"
};

const char *cawb_means_name(cawb_means m) { return names[m]; }

cawb_means cawb_means_find(const char *name) {
  int m = 0;
  while (m < CAWB_MEANS && strcmp(names[m], name) != 0) m++;
  return (cawb_means)m;
}

void cawb_budget_begin(cawb_budget *b) {
  memset(b, 0, sizeof *b);
  b->began = cawb_clock_now();
}

/* NaN and infinity are no amounts. */
static cawb_status check(cawb_means m, double amount, cawb_err *err) {
  if (isfinite(amount) && amount >= 0) return CAWB_OK;
  return cawb_fail(err, CAWB_ERR_INVALID, "%s: %g is no amount", names[m], amount);
}

cawb_status cawb_budget_limit(cawb_budget *b, cawb_means m, double most, cawb_err *err) {
  cawb_status rc = check(m, most, err);
  if (rc == CAWB_OK) b->most[m] = most;
  return rc;
}

cawb_status cawb_budget_spend(cawb_budget *b, cawb_means m, double amount, cawb_err *err) {
  cawb_status rc = check(m, amount, err);
  if (rc == CAWB_OK && m == CAWB_SECONDS)
    rc = cawb_fail(err, CAWB_ERR_INVALID, "seconds pass by themselves");
  if (rc == CAWB_OK) b->spent[m] += amount;
  return rc;
}

void cawb_budget_progress(cawb_budget *b) { b->spent[CAWB_NO_PROGRESS] = 0; }

double cawb_budget_spent(const cawb_budget *b, cawb_means m) {
  return m == CAWB_SECONDS ? cawb_clock_now() - b->began : b->spent[m];
}

cawb_means cawb_budget_over(const cawb_budget *b) {
  int m = 0;
  while (m < CAWB_MEANS && !(b->most[m] > 0 && cawb_budget_spent(b, (cawb_means)m) >= b->most[m])) m++;
  return (cawb_means)m;
}
