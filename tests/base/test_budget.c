/* test_budget.c - amounts that grow up to their limits. */
#include "base/store/budget.h"

#include <math.h>
#include <string.h>

#include "check.h"

static void test_names(void) {
  for (int m = 0; m < CAWB_MEANS; m++) CHECK(cawb_means_find(cawb_means_name((cawb_means)m)) == (cawb_means)m);
  CHECK(cawb_means_find("token") == CAWB_MEANS);
}

static void test_limits(void) {
  cawb_budget b;
  cawb_err err;
  cawb_budget_begin(&b);
  CHECK(cawb_budget_spend(&b, CAWB_TOKENS, 1e9, &err) == CAWB_OK);
  CHECK(cawb_budget_over(&b) == CAWB_MEANS);                       /* no limit was set */
  CHECK(cawb_budget_limit(&b, CAWB_DOLLARS, 1.5, &err) == CAWB_OK);
  CHECK(cawb_budget_spend(&b, CAWB_DOLLARS, 1.0, &err) == CAWB_OK && cawb_budget_over(&b) == CAWB_MEANS);
  CHECK(cawb_budget_spend(&b, CAWB_DOLLARS, 0.5, &err) == CAWB_OK && cawb_budget_over(&b) == CAWB_DOLLARS);
  CHECK(cawb_budget_spent(&b, CAWB_DOLLARS) == 1.5);
  CHECK(cawb_budget_limit(&b, CAWB_TURNS, 1, &err) == CAWB_OK);
  CHECK(cawb_budget_spend(&b, CAWB_TURNS, 1, &err) == CAWB_OK && cawb_budget_over(&b) == CAWB_TURNS);
}

static void test_refusals(void) {
  cawb_budget b;
  cawb_err err;
  cawb_budget_begin(&b);
  CHECK(cawb_budget_spend(&b, CAWB_TOKENS, 10, &err) == CAWB_OK);
  CHECK(cawb_budget_spend(&b, CAWB_TOKENS, -5, &err) == CAWB_ERR_INVALID);
  CHECK(cawb_budget_spend(&b, CAWB_TOKENS, NAN, &err) == CAWB_ERR_INVALID);
  CHECK(cawb_budget_spend(&b, CAWB_TOKENS, INFINITY, &err) == CAWB_ERR_INVALID);
  CHECK(cawb_budget_spend(&b, CAWB_SECONDS, 1, &err) == CAWB_ERR_INVALID);
  CHECK(cawb_budget_limit(&b, CAWB_TURNS, -1, &err) == CAWB_ERR_INVALID);
  CHECK(cawb_budget_spent(&b, CAWB_TOKENS) == 10);
}

static void test_progress(void) {
  cawb_budget b;
  cawb_err err;
  cawb_budget_begin(&b);
  CHECK(cawb_budget_limit(&b, CAWB_NO_PROGRESS, 2, &err) == CAWB_OK);
  CHECK(cawb_budget_spend(&b, CAWB_NO_PROGRESS, 1, &err) == CAWB_OK);
  cawb_budget_progress(&b);
  CHECK(cawb_budget_spend(&b, CAWB_NO_PROGRESS, 1, &err) == CAWB_OK && cawb_budget_over(&b) == CAWB_MEANS);
  CHECK(cawb_budget_spend(&b, CAWB_NO_PROGRESS, 1, &err) == CAWB_OK && cawb_budget_over(&b) == CAWB_NO_PROGRESS);
}

static void test_time(void) {
  cawb_budget b;
  cawb_err err;
  cawb_budget_begin(&b);
  CHECK(cawb_budget_limit(&b, CAWB_SECONDS, 1e-9, &err) == CAWB_OK);
  b.began -= 1;
  CHECK(cawb_budget_over(&b) == CAWB_SECONDS && cawb_budget_spent(&b, CAWB_SECONDS) >= 1);
}

int main(void) {
  test_names();
  test_limits();
  test_refusals();
  test_progress();
  test_time();
  return check_report();
}
