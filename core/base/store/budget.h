/*
** budget.h - what a run may spend, and has spent. Amounts only grow, and a limit stays as
** it was set: whoever decides can look, not bend. Time is the clock's own matter.
*/
#ifndef CAWB_RECORD_BUDGET_H
#define CAWB_RECORD_BUDGET_H

#include "base/err.h"

/* In the order in which an end is told when several limits are reached at once. */
typedef enum cawb_means {
  CAWB_TURNS,             /* candidates evaluated */
  CAWB_SECONDS,           /* wall time since the budget began; cannot be spent by hand */
  CAWB_REPLIES,           /* of a model */
  CAWB_TOKENS,            /* in and out */
  CAWB_DOLLARS,
  CAWB_DEVICE_SECONDS,    /* that the device was kept busy */
  CAWB_NO_PROGRESS,       /* turns since the best one */
  CAWB_MEANS              /* how many there are; no means at all */
} cawb_means;

typedef struct cawb_budget {
  double most[CAWB_MEANS], spent[CAWB_MEANS];     /* most: 0 is no limit */
  double began;
} cawb_budget;

const char *cawb_means_name(cawb_means m);                /* "turns", ... */
cawb_means  cawb_means_find(const char *name);            /* CAWB_MEANS: no such name */

void        cawb_budget_begin(cawb_budget *b);            /* nothing spent, no limits */
cawb_status cawb_budget_limit(cawb_budget *b, cawb_means m, double most, cawb_err *err);
cawb_status cawb_budget_spend(cawb_budget *b, cawb_means m, double amount, cawb_err *err);
void        cawb_budget_progress(cawb_budget *b);         /* CAWB_NO_PROGRESS is 0 again */
double      cawb_budget_spent(const cawb_budget *b, cawb_means m);
cawb_means  cawb_budget_over(const cawb_budget *b);       /* the first at its limit, or CAWB_MEANS */

#endif
